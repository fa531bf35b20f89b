import type { Instant } from "../../../core/instant.ts"
import { type Missed, type Run, type RunState, UNFINISHED } from "../../../core/run.ts"
import { DATE_MAX } from "../../../core/sound.ts"
import type { OccurrencePage, OccurrenceRecord, RunFilter, RunPage, Worker } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import type { Value } from "../driver.ts"
import {
  parseOrNothing,
  RUN_COLUMNS,
  type RunRow,
  readableRunOf,
  WORKER_COLUMNS,
  type WorkerRow,
  workerOf,
} from "../rows.ts"

const SELECT_WORKERS = `
  select ${WORKER_COLUMNS}
  from belfry_workers
  where id > ?
  order by id
  limit ?`

const ORDER_COLUMNS = {
  createdAt: "created_at",
  scheduledFor: "scheduled_for",
  completedAt: "completed_at",
} as const

/** A statement for each combination that is asked for: they are few, and each is prepared once. */
export interface Query {
  readonly sql: string
  readonly values: readonly Value[]
}

export function findRuns(connection: Connection, filter: RunFilter, page: RunPage): readonly Run[] {
  const queries = runsQueries(filter, page)
  const found = queries.flatMap(({ sql, values }) => connection.rows<RunRow>(sql, values)).map(readableRunOf)
  return queries.length === 1 ? found : found.sort(newestFirst(page.orderBy)).slice(0, page.limit)
}

export const SELECT_OCCURRENCES = `
  select id, state, missed, scheduled_for
  from belfry_runs
  where schedule_id = ?
    and scheduled_for > ?
    and (scheduled_for, id) < (?, ?)
  order by scheduled_for desc, id desc
  limit ?`

/** By belfry_runs_schedule_scheduled. The columns lie before all that may be large, so no more than a run's first page is read. */
export function findOccurrences(
  connection: Connection,
  { scheduleId, after, before, limit }: OccurrencePage,
): readonly OccurrenceRecord[] {
  const { at, id } = before ?? { at: Number.MAX_SAFE_INTEGER, id: "" }
  return connection
    .rows<OccurrenceRow>(SELECT_OCCURRENCES, [scheduleId, after, at, id, limit])
    .map(([id, state, missed, scheduledFor]) => ({
      id,
      state,
      missed: parseOrNothing<Missed | null>(missed ?? "null") ?? null,
      scheduledFor,
    }))
}

type OccurrenceRow = readonly [id: string, state: RunState, missed: string | null, scheduledFor: Instant]

/**
 * By the index on the instant, or on schedule and instant; by primary key if ids are given, and then sorted. States alone
 * are asked for one by one, each by its own part of an index: among a million that succeeded, those that failed are few.
 */
export function runsQueries(filter: RunFilter, page: RunPage): readonly Query[] {
  const { ids, scheduleId, concurrencyKey, states, ...rest } = filter
  const isByState = ids === undefined && scheduleId === undefined && concurrencyKey === undefined
  if (states === undefined || !isByState || page.orderBy !== "createdAt") return [runsQuery(filter, page)]
  return [...new Set(states)].map((state) => runsQuery(rest, page, { sql: "state = ?", values: [state] }))
}

function runsQuery(filter: RunFilter, { orderBy, before, limit }: RunPage, state?: Query): Query {
  const column = ORDER_COLUMNS[orderBy]
  const conditions = [
    ...(state === undefined ? [] : [state]),
    ...conditionsOf(filter),
    { sql: `${column} is not null`, values: [] },
    ...(before === null ? [] : behind(column, before)),
  ]
  return {
    sql: `
  select ${RUN_COLUMNS}
  from belfry_runs
  ${whereOf(conditions)}
  order by ${column} desc, id desc
  limit ?`,
    values: [...conditions.flatMap(({ values }) => values), limit],
  }
}

/** What is out of reach of a date is read as the first or last date: a page behind the last of these is empty. */
function behind(column: string, { at, id }: { at: number; id: string }): readonly Query[] {
  const isBehind = { sql: `(${column}, id) < (?, ?)`, values: [at, id] }
  return [isBehind, { sql: `${column} >= ${-DATE_MAX}`, values: [] }]
}

function newestFirst(orderBy: RunPage["orderBy"]): (a: Run, b: Run) => number {
  return (a, b) => b[orderBy]! - a[orderBy]! || (a.id < b.id ? 1 : -1)
}

export function countRuns(connection: Connection, filter: RunFilter): Readonly<Record<RunState, number>> {
  const { sql, values } = countQuery(filter)
  const rows = connection.prepare(sql).all(...values) as { state: RunState; runs: number }[]
  const counts = { pending: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }
  // A state that is none was written past our door.
  for (const { state, runs } of rows) if (Object.hasOwn(counts, state)) counts[state] = runs
  return counts
}

export function countQuery(filter: RunFilter): Query {
  const conditions = conditionsOf(filter)
  return {
    sql: `
  select state, count(*) as runs
  from belfry_runs
  ${whereOf(conditions)}
  group by state`,
    values: conditions.flatMap(({ values }) => values),
  }
}

export function findWorkers(
  connection: Connection,
  { afterId, limit }: { afterId: string | null; limit: number },
): readonly Worker[] {
  return (connection.prepare(SELECT_WORKERS).all(afterId ?? "", limit) as WorkerRow[]).map(workerOf)
}

function conditionsOf(filter: RunFilter): readonly Query[] {
  const { ids, scheduleId, task, states, triggeredBy, concurrencyKey } = filter
  const conditions: Query[] = []
  // A list is one value, so that its length makes no other statement.
  const isAnyOf = (column: string, list: readonly string[] | undefined) => {
    if (list === undefined) return
    conditions.push({ sql: `${column} in (select value from json_each(?))`, values: [JSON.stringify(list)] })
  }
  const is = (column: string, value: string | undefined) => {
    if (value !== undefined) conditions.push({ sql: `${column} = ?`, values: [value] })
  }
  isAnyOf("id", ids)
  is("schedule_id", scheduleId)
  is("task", task)
  is("concurrency_key", concurrencyKey)
  // The plus keeps the planner from the index on states, where the order asked for would have to be sorted.
  isAnyOf("+state", states)
  isAnyOf("triggered_by", triggeredBy)
  // In the very words of belfry_runs_key, so that the unfinished runs of a key are found by it.
  const isUnfinished = states?.every((state) => UNFINISHED.includes(state)) ?? false
  if (concurrencyKey !== undefined && isUnfinished) {
    conditions.push({ sql: "state in ('pending', 'running')", values: [] })
  }
  return conditions
}

function whereOf(conditions: readonly Query[]): string {
  if (conditions.length === 0) return ""
  return `where ${conditions.map(({ sql }) => sql).join("\n    and ")}`
}
