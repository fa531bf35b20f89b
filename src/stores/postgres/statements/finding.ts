import { isFinished, type Run, type RunState, type TriggeredBy } from "../../../core/run/run.ts"
import { noRunCounts, type RunCounts } from "../../../core/run/run-states.ts"
import { type RunSummary, summaryOf } from "../../../core/run/run-summary.ts"
import type { RunFilter, RunPage, Worker } from "../../../store/store.ts"
import { runCountsOf } from "../../kit/counts.ts"
import { endOfPrefix } from "../../kit/id-prefix.ts"
import type { Runner } from "../database.ts"
import { instantFrom, WORKER_COLUMNS, workerOf } from "../rows.ts"
import { readableRunOf, runColumns, summaryColumns } from "../run-rows.ts"
import { sidesOf } from "./finding-sides.ts"

export const SELECT_WORKERS = `
  select ${WORKER_COLUMNS}
  from belfry.workers
  where id > $1
  order by id
  limit $2`

const ORDER_COLUMNS = {
  createdAt: "created_at",
  scheduledFor: "scheduled_for",
  completedAt: "completed_at",
} as const

export interface Query {
  readonly text: string
  readonly values: readonly unknown[]
}

export async function findRuns(
  runner: Runner,
  filter: RunFilter,
  page: RunPage,
): Promise<readonly RunSummary[]> {
  if (filter.states?.length === 0 || filter.triggeredBy?.length === 0) return []
  const { text, values } = runsQuery(filter, page)
  return (await runner.rows(text, values)).map(readableRunOf).map(summaryOf)
}

export const SELECT_RUNS = `
  select ${runColumns("r")}
  from belfry.runs as r
  where r.id = any ($1::text[])`

export async function readRuns(runner: Runner, ids: readonly string[]): Promise<readonly Run[]> {
  return (await runner.rows(SELECT_RUNS, [ids])).map(readableRunOf)
}

/** The parameter of the task, if the filter has one: `conditionsOf` adds it first. */
const TASK = "$1"

/** Each combination of filter and order has its own statement. */
export function runsQuery(filter: RunFilter, page: RunPage): Query {
  const { conditions, values } = conditionsOf(filter, page.orderBy)
  addBounds(page, conditions, values)
  values.push(page.limit)
  const column = page.orderBy === "id" ? null : ORDER_COLUMNS[page.orderBy]
  const inOrder = `order by ${column === null ? "r.id" : `r.${column} desc, r.id desc`}
  limit $${values.length}`
  const sides = sidesOf(filter, page.orderBy, TASK).map(
    (side) => `(
  select r.*
  from belfry.runs as r
  where ${[side.where, ...conditions].join("\n    and ")}
  ${side.isSorted ? inOrder : ""}
  )`,
  )
  return {
    text: `
  select ${summaryColumns("r")}
  from (${sides.join(" union all ")}) as r
  ${inOrder}`,
    values,
  }
}

function addBounds({ orderBy, after, from, until }: RunPage, conditions: string[], values: unknown[]): void {
  const parameter = (value: unknown) => `$${values.push(value)}`
  if (orderBy === "id") {
    if (after !== null) conditions.push(`r.id > ${parameter(after.id)}`)
    return
  }
  const column = `r.${ORDER_COLUMNS[orderBy]}`
  conditions.push(`${column} is not null`)
  if (from !== undefined) conditions.push(`${column} >= ${instantFrom(parameter(from))}`)
  if (until !== undefined) conditions.push(`${column} < ${instantFrom(parameter(until))}`)
  if (after !== null)
    conditions.push(`(${column}, r.id) < (${instantFrom(parameter(after.at))}, ${parameter(after.id)})`)
}

export async function countRuns(runner: Runner, filter: RunFilter, limit: number): Promise<RunCounts> {
  if (filter.states?.length === 0 || filter.triggeredBy?.length === 0) return noRunCounts()
  const { text, values } = countQuery(filter, limit)
  const rows = await runner.rows(text, values)
  return runCountsOf(
    rows.map(([state, runs]) => [state!, Number(runs)]),
    limit,
  )
}

/** With a narrow filter, all states are counted together. Otherwise each state is counted by its own index, up to the limit. */
export function countQuery(filter: RunFilter, limit: number): Query {
  const { states, ...rest } = filter
  if (NARROW.some((part) => filter[part] !== undefined)) {
    const { conditions, values } = conditionsOf(filter)
    const text = `
  select r.state, pg_catalog.count(*)
  from belfry.runs as r
  where ${conditions.join("\n    and ")}
  group by r.state`
    return { text, values }
  }
  const { conditions, values } = conditionsOf(rest)
  values.push(limit)
  const counts = STATES.filter((state) => states?.includes(state) !== false).map(
    (state) => `
  select '${state}', (
    select pg_catalog.count(*)
    from (
      select 1
      from belfry.runs as r
      where ${[IN_STATE[state], ...conditions].join("\n        and ")}
      limit $${values.length}
    ) as counted
  )`,
  )
  return { text: counts.join(" union all "), values }
}

const NARROW = [...(["ids", "idPrefix", "scheduleId", "parentId", "concurrencyKey", "workerId"] as const)]

/** Repeats the conditions of the partial indexes, so that the planner uses them. */
const IN_STATE: Readonly<Record<RunState, string>> = {
  pending: "r.state = 'pending'",
  running: "r.state = 'running' and r.claimable_at is not null",
  succeeded: "r.state = 'succeeded' and r.completed_at is not null",
  failed: "r.state = 'failed'",
  cancelled: "r.state = 'cancelled'",
  skipped: "r.state = 'skipped'",
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
  const { ids, idPrefix, scheduleId, parentId, workerId, task, states, triggeredBy, concurrencyKey } = filter
  const conditions: string[] = []
  const values: unknown[] = []
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value === undefined) return
    values.push(value)
    conditions.push(condition(`$${values.length}`))
  }
  add((p) => `r.task = ${p}`, task)
  add((p) => `r.id = any (${p}::text[])`, ids)
  add((p) => `r.id >= ${p}`, idPrefix)
  add((p) => `r.id < ${p}`, idPrefix === undefined ? undefined : endOfPrefix(idPrefix))
  add((p) => `r.parent_id = ${p}`, parentId)
  // A finished run keeps its worker_id, for its history.
  add((p) => `r.state = 'running' and r.worker_id = ${p}`, workerId)
  add((p) => `r.schedule_id = ${orderBy === "createdAt" ? p : hiddenFromPlanner(p)}`, scheduleId)
  add((p) => `r.concurrency_key = ${isUnfinished(states) ? hiddenFromPlanner(p) : p}`, concurrencyKey)
  if (triggeredBy !== undefined) conditions.push(isTriggeredBy(triggeredBy))
  if (states !== undefined) conditions.push(isIn(states))
  return { conditions, values }
}

/** Written as in the condition of runs_triggered_by, so that the planner uses this partial index for the rare values. */
function isTriggeredBy(triggeredBy: readonly TriggeredBy[]): string {
  const known = TRIGGERED_BY.filter((each) => triggeredBy.includes(each))
  return known.length === 0 ? "false" : `r.triggered_by in (${known.map((each) => `'${each}'`).join(", ")})`
}

const TRIGGERED_BY: readonly TriggeredBy[] = ["catchup", "manual", "backfill", "schedule", "api"]

/**
 * Hides the value from the planner. For a schedule with many runs, the planner would expect to find one soon in an index of all
 * runs: 50,000 rows were read for an unfinished run that didn't exist.
 */
const hiddenFromPlanner = (parameter: string) => `(select ${parameter}::text)`

function isUnfinished(states: readonly RunState[] | undefined): boolean {
  return states?.every((state) => !isFinished(state)) === true
}

/** Written as in the conditions of the partial indexes, so that a few failed runs among a million are found by their index. */
function isIn(states: readonly RunState[]): string {
  const known = STATES.filter((state) => states.includes(state))
  return known.length === 0 ? "false" : `r.state in (${known.map((state) => `'${state}'`).join(", ")})`
}

const STATES: readonly RunState[] = ["pending", "running", "failed", "cancelled", "skipped", "succeeded"]
