import { isFinished, type Run, type RunState } from "../../../core/run.ts"
import type { OccurrencePage, OccurrenceRecord, RunFilter, RunPage, Worker } from "../../../store/store.ts"
import type { Runner } from "../database.ts"
import { instantFrom, instantOf, jsonOf, ms, workerColumns, workerOf } from "../rows.ts"
import { readableRunOf, runColumns } from "../run-rows.ts"

export const SELECT_WORKERS = `
  select ${workerColumns}
  from belfry.workers
  where id > $1
  order by id
  limit $2`

const ORDER_COLUMNS = {
  createdAt: "created_at",
  scheduledFor: "scheduled_for",
  completedAt: "completed_at",
} as const

export interface Asked {
  readonly text: string
  readonly values: readonly unknown[]
}

export async function findRuns(runner: Runner, filter: RunFilter, page: RunPage): Promise<readonly Run[]> {
  if (filter.states?.length === 0) return []
  const { text, values } = runsQuery(filter, page)
  return (await runner.rows(text, values)).map(readableRunOf)
}

export const SELECT_OCCURRENCES = `
  select r.id, r.state, r.missed, ${ms("r.scheduled_for")}
  from belfry.runs as r
  where r.schedule_id = $1
    and r.scheduled_for > ${instantFrom("$2")}
    and (r.scheduled_for, r.id) < (coalesce(${instantFrom("$3")}, 'infinity'), $4)
  order by r.scheduled_for desc, r.id desc
  limit $5`

/** By runs_schedule. What may be large is stored apart from the row, and isn't asked for. */
export async function findOccurrences(
  runner: Runner,
  { scheduleId, after, before, limit }: OccurrencePage,
): Promise<readonly OccurrenceRecord[]> {
  const values = [scheduleId, after, before?.at ?? null, before?.id ?? "", limit]
  const rows = await runner.rows(SELECT_OCCURRENCES, values)
  return rows.map(([id, state, missed, scheduledFor]) => ({
    id: id!,
    state: state as RunState,
    missed: jsonOf(missed ?? null),
    scheduledFor: instantOf(scheduledFor!),
  }))
}

/** A statement for each combination that is asked for. */
export function runsQuery(filter: RunFilter, { orderBy, before, limit }: RunPage): Asked {
  const column = ORDER_COLUMNS[orderBy]
  const { conditions, values } = conditionsOf(filter, orderBy)
  conditions.push(`r.${column} is not null`)
  if (before !== null) {
    values.push(before.at, before.id)
    const [at, id] = [`$${values.length - 1}`, `$${values.length}`]
    conditions.push(`(r.${column}, r.id) < (${instantFrom(at)}, ${id})`)
  }
  values.push(limit)
  const inOrder = `order by r.${column} desc, r.id desc
  limit $${values.length}`
  const sides = sidesOf(filter, orderBy).map(
    (side) => `(
  select r.*
  from belfry.runs as r
  where ${[side, ...conditions].join("\n    and ")}
  ${inOrder}
  )`,
  )
  return {
    text: `
  select ${runColumns("r")}
  from (${sides.join(" union all ")}) as r
  ${inOrder}`,
    values,
  }
}

/**
 * An index by creation that had every run would be written at each of its steps. So what waits and what has ended have one
 * each, and what is running has none: that is never much, and all of it is read by runs_due. A run that is asked for by its id
 * needs none of them, and is found even if it ended at no time.
 */
function sidesOf({ ids, states }: RunFilter, orderBy: RunPage["orderBy"]): readonly string[] {
  if (orderBy !== "createdAt" || ids !== undefined) return ["true"]
  const isAsked = (side: (state: RunState) => boolean) => states?.some(side) !== false
  return [
    ...(isAsked((state) => state === "pending") ? ["r.state = 'pending'"] : []),
    ...(isAsked((state) => state === "running")
      ? ["r.state = 'running' and r.claimable_at is not null"]
      : []),
    ...(isAsked(isFinished) ? ["r.completed_at is not null"] : []),
  ]
}

export async function countRuns(
  runner: Runner,
  filter: RunFilter,
): Promise<Readonly<Record<RunState, number>>> {
  const { text, values } = countQuery(filter)
  const counts = { pending: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }
  for (const [state, runs] of await runner.rows(text, values)) counts[state as RunState] = Number(runs)
  return counts
}

export function countQuery(filter: RunFilter): Asked {
  const { conditions, values } = conditionsOf(filter)
  return {
    text: `
  select r.state, pg_catalog.count(*)
  from belfry.runs as r
  ${conditions.length === 0 ? "" : `where ${conditions.join("\n    and ")}`}
  group by r.state`,
    values,
  }
}

export async function findWorkers(
  runner: Runner,
  { afterId, limit }: { afterId: string | null; limit: number },
): Promise<readonly Worker[]> {
  return (await runner.rows(SELECT_WORKERS, [afterId ?? "", limit])).map(workerOf)
}

function conditionsOf(
  filter: RunFilter,
  orderBy?: RunPage["orderBy"],
): { conditions: string[]; values: unknown[] } {
  const { ids, scheduleId, task, states, triggeredBy, concurrencyKey } = filter
  const conditions: string[] = []
  const values: unknown[] = []
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value === undefined) return
    values.push(value)
    conditions.push(condition(`$${values.length}`))
  }
  add((p) => `r.id = any (${p}::text[])`, ids)
  add((p) => `r.schedule_id = ${orderBy === "createdAt" ? p : unseen(p)}`, scheduleId)
  add((p) => `r.task = ${p}`, task)
  add((p) => `r.concurrency_key = ${isUnfinished(states) ? unseen(p) : p}`, concurrencyKey)
  add((p) => `r.triggered_by = any (${p}::text[])`, triggeredBy)
  if (states !== undefined) conditions.push(isIn(states))
  return { conditions, values }
}

/**
 * A value that the planner doesn't see. Of a schedule with many runs it would think that one of them turns up soon, and look
 * for it among everybody's: 50,000 rows were read for an unfinished run that wasn't there.
 */
const unseen = (parameter: string) => `(select ${parameter}::text)`

function isUnfinished(states: readonly RunState[] | undefined): boolean {
  return states?.every((state) => !isFinished(state)) === true
}

/** In the words of the partial indexes, so that a few failed runs among a million are found by theirs. */
function isIn(states: readonly RunState[]): string {
  const known = STATES.filter((state) => states.includes(state))
  return known.length === 0 ? "false" : `r.state in (${known.map((state) => `'${state}'`).join(", ")})`
}

const STATES: readonly RunState[] = ["pending", "running", "failed", "cancelled", "skipped", "succeeded"]
