import { DATE_MAX } from "../../../core/records/valid-records.ts"
import { type Run, type TriggeredBy, UNFINISHED } from "../../../core/run/run.ts"
import { RUN_STATES, type RunCounts, type RunState } from "../../../core/run/run-states.ts"
import { type RunSummary, SUMMARY_TEXT_MAX, summaryOf } from "../../../core/run/run-summary.ts"
import type { RunFilter, RunPage, Worker } from "../../../store/store.ts"
import { runCountsOf, type StateCount } from "../../kit/counts.ts"
import { endOfPrefix } from "../../kit/id-prefix.ts"
import type { Value } from "../driver.ts"
import type { Prepared } from "../prepared.ts"
import { RUN_COLUMNS, type RunRow, readableRunOf, WORKER_COLUMNS, workerOf } from "../rows.ts"

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

/** Replaces the columns that a summary leaves out or cuts, so that SQLite needn't read large values. */
const IN_SUMMARIES: Readonly<Record<string, string>> = {
  payload: "'null'",
  retry: "null",
  details: "'null'",
  attempts: "'[]'",
  message: `substr(message, 1, ${SUMMARY_TEXT_MAX})`,
  error: `substr(error, 1, ${SUMMARY_TEXT_MAX})`,
}
const SUMMARY_COLUMNS = RUN_COLUMNS.replace(/\w+/g, (column) => IN_SUMMARIES[column] ?? column)

/** Each combination of filters in use is a statement of its own. They are few, and each is prepared once. */
export interface Query {
  readonly sql: string
  readonly values: readonly Value[]
}

export function findRuns(connection: Prepared, filter: RunFilter, page: RunPage): readonly RunSummary[] {
  const queries = runsQueries(filter, page)
  const found = queries.flatMap(({ sql, values }) => connection.rows<RunRow>(sql, values)).map(readableRunOf)
  const ordered = queries.length === 1 ? found : found.sort(newestFirst).slice(0, page.limit)
  return ordered.map(summaryOf)
}

export const SELECT_RUNS = `
  select ${RUN_COLUMNS}
  from belfry_runs
  where id in (select value from json_each(?))`

export function readRuns(connection: Prepared, ids: readonly string[]): readonly Run[] {
  return connection.rows<RunRow>(SELECT_RUNS, [JSON.stringify(ids)]).map(readableRunOf)
}

/**
 * Uses the index on the instant, or on schedule, task or parent and the instant; with ids, the primary key and a sort. A filter
 * on states alone is one query per state, each on its own part of an index: among a million succeeded runs, the failed ones are
 * few. The same holds for `triggeredBy`.
 */
export function runsQueries(filter: RunFilter, page: RunPage): readonly Query[] {
  const { states, triggeredBy, ...rest } = filter
  if (isNarrow(filter) || page.orderBy !== "createdAt") return [runsQuery(filter, page)]
  if (states !== undefined)
    return [...new Set(states)].map((state) =>
      runsQuery({ ...rest, ...(triggeredBy === undefined ? {} : { triggeredBy }) }, page, {
        sql: "state = ?",
        values: [state],
      }),
    )
  if (triggeredBy?.every((trigger) => isRare(trigger)))
    return [...new Set(triggeredBy)].map((trigger) =>
      runsQuery(rest, page, { sql: `triggered_by = '${trigger}'`, values: [] }),
    )
  return [runsQuery(filter, page)]
}

const NARROW = ["ids", "scheduleId", "parentId", "concurrencyKey", "task"] as const

function isNarrow(filter: RunFilter): boolean {
  return NARROW.some((part) => filter[part] !== undefined)
}

/** The values in the partial index belfry_runs_triggered_by. */
function isRare(triggeredBy: TriggeredBy): boolean {
  return triggeredBy === "catchup" || triggeredBy === "manual" || triggeredBy === "backfill"
}

function runsQuery(filter: RunFilter, page: RunPage, first?: Query): Query {
  const conditions = [...(first === undefined ? [] : [first]), ...conditionsOf(filter), ...boundsOf(page)]
  const order = page.orderBy === "id" ? "id" : `${ORDER_COLUMNS[page.orderBy]} desc, id desc`
  return {
    sql: `
  select ${SUMMARY_COLUMNS}
  from belfry_runs
  ${whereOf(conditions)}
  order by ${order}
  limit ?`,
    values: [...conditions.flatMap(({ values }) => values), page.limit],
  }
}

function boundsOf({ orderBy, after, from, until }: RunPage): readonly Query[] {
  if (orderBy === "id") return after === null ? [] : [{ sql: "id > ?", values: [after.id] }]
  const column = ORDER_COLUMNS[orderBy]
  const bounds: Query[] = [{ sql: `${column} is not null`, values: [] }]
  if (from !== undefined) bounds.push({ sql: `${column} >= ?`, values: [from] })
  if (until !== undefined) bounds.push({ sql: `${column} < ?`, values: [until] })
  if (after !== null) {
    bounds.push({ sql: `(${column}, id) < (?, ?)`, values: [after.at, after.id] })
    // An instant outside the range of a date is read as the first or last date. No page follows the first date.
    bounds.push({ sql: `${column} >= ${-DATE_MAX}`, values: [] })
  }
  return bounds
}

/** The results of several queries are merged only with the order by `createdAt`. */
function newestFirst(a: Run, b: Run): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)
}

export function countRuns(connection: Prepared, filter: RunFilter, limit: number): RunCounts {
  const queries = countQueries(filter, limit)
  return runCountsOf(
    queries.flatMap(({ sql, values }) => connection.rows<StateCount>(sql, values)),
    limit,
  )
}

/** With a narrow filter, one query counts all states. Otherwise one query per state, by part of an index, up to the limit. */
export function countQueries(filter: RunFilter, limit: number): readonly Query[] {
  const { states, ...rest } = filter
  const { task: _task, ...withoutTask } = filter
  if (isNarrow(withoutTask) || filter.idPrefix !== undefined || filter.workerId !== undefined) {
    const conditions = conditionsOf(filter)
    const sql = `
  select state, count(*) as runs
  from belfry_runs
  ${whereOf(conditions)}
  group by state`
    return [{ sql, values: conditions.flatMap(({ values }) => values) }]
  }
  return [...new Set(states ?? RUN_STATES)].map((state) => {
    const conditions = inState(state, conditionsOf(rest), filter.task !== undefined)
    const sql = `
  select ? as state, count(*) as runs
  from (select 1 from belfry_runs ${whereOf(conditions)} limit ?)`
    return { sql, values: [state, ...conditions.flatMap(({ values }) => values), limit] }
  })
}

/** Most runs of a task have succeeded: these are found by the index on the task, all others by the index on the state. */
function inState(state: RunState, others: readonly Query[], isOfTask: boolean): readonly Query[] {
  const isByTask = isOfTask && state === "succeeded"
  const conditions = others.map(({ sql, values }) => ({
    sql: sql === "task = ?" && !isByTask ? "+task = ?" : sql,
    values,
  }))
  return [{ sql: isByTask ? "+state = ?" : "state = ?", values: [state] }, ...conditions]
}

export function findWorkers(
  connection: Prepared,
  { afterId, limit }: { afterId: string | null; limit: number },
): readonly Worker[] {
  return connection.rows<readonly unknown[]>(SELECT_WORKERS, [afterId ?? "", limit]).map(workerOf)
}

function conditionsOf(filter: RunFilter): readonly Query[] {
  const { ids, idPrefix, scheduleId, parentId, workerId, task, states, triggeredBy, concurrencyKey } = filter
  const conditions: Query[] = []
  // A list is one JSON value, so that lists of all lengths use one statement.
  const isAnyOf = (column: string, list: readonly string[] | undefined) => {
    if (list === undefined) return
    conditions.push({ sql: `${column} in (select value from json_each(?))`, values: [JSON.stringify(list)] })
  }
  const is = (column: string, value: string | undefined) => {
    if (value !== undefined) conditions.push({ sql: `${column} = ?`, values: [value] })
  }
  isAnyOf("id", ids)
  if (idPrefix !== undefined)
    conditions.push({ sql: "id >= ? and id < ?", values: [idPrefix, endOfPrefix(idPrefix)] })
  is("schedule_id", scheduleId)
  is("parent_id", parentId)
  is("task", task)
  is("concurrency_key", concurrencyKey)
  // The plus keeps the planner from the index on states, which would need a sort.
  isAnyOf("+state", states)
  isAnyOf("triggered_by", triggeredBy)
  // Running runs are few, and are found by the index on states.
  if (workerId !== undefined)
    conditions.push({ sql: "state = 'running' and worker_id = ?", values: [workerId] })
  // The exact condition of belfry_runs_key, so that the planner uses this partial index for the unfinished runs of a key.
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
