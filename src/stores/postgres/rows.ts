import type { Instant } from "../../core/instant.ts"
import type { NewRun, Run, RunState, TriggeredBy } from "../../core/run.ts"
import type { LogLevel, StoredLogLine, Worker } from "../../store/store.ts"

/** Rows as statements return them, and the records they stand for. Every value arrives as text: see `Database`. */

export type Text = string | null
export type Row = readonly Text[]

/** An instant as milliseconds. */
export const ms = (column: string) => `extract(epoch from ${column}) * 1000`

/** The store's clock, read once per statement. */
export const CLOCK = "clock as materialized (select date_trunc('milliseconds', clock_timestamp()) as now)"

export const runColumns = (r: string) => `
    ${r}.id, ${r}.task, ${r}.payload, ${r}.priority, ${r}.schedule_id, ${ms(`${r}.scheduled_for`)}, ${r}.triggered_by,
    ${r}.trigger, ${r}.missed, ${r}.live_key, ${r}.concurrency_key, ${r}.concurrency_limit, ${r}.retry, ${r}.timeout_ms,
    ${r}.reason, ${r}.by_name, ${r}.state, ${ms(`${r}.claimable_at`)}, ${r}.attempt, ${r}.failures, ${r}.lost,
    ${r}.worker_id, ${ms(`${r}.created_at`)}, ${ms(`${r}.started_at`)}, ${ms(`${r}.completed_at`)}, ${r}.message,
    ${r}.details, ${r}.error, ${r}.progress, ${r}.attempts`

/** By place, in the order of `runColumns`; `from` is where they begin in the row. */
export function runOf(row: Row, from = 0): Run {
  const text = (place: number) => row[from + place] as string
  const optional = (place: number) => row[from + place] as Text
  return {
    id: text(0),
    task: text(1),
    payload: jsonOf(optional(2)),
    priority: Number(text(3)),
    scheduleId: optional(4),
    scheduledFor: numberOf(optional(5)),
    triggeredBy: text(6) as TriggeredBy,
    trigger: optional(7),
    missed: jsonOf(optional(8)),
    liveKey: optional(9),
    concurrencyKey: optional(10),
    concurrencyLimit: numberOf(optional(11)),
    retry: jsonOf(optional(12)),
    timeoutMs: numberOf(optional(13)),
    reason: optional(14),
    by: optional(15),
    state: text(16) as RunState,
    claimableAt: numberOf(optional(17)),
    attempt: Number(text(18)),
    failures: Number(text(19)),
    lost: Number(text(20)),
    workerId: optional(21),
    createdAt: instantOf(text(22)),
    startedAt: numberOf(optional(23)),
    completedAt: numberOf(optional(24)),
    message: optional(25),
    details: jsonOf(optional(26)),
    error: optional(27),
    progress: jsonOf(optional(28)),
    attempts: jsonOf(text(29)),
  }
}

/** A new run as parameters: one list for each column, so that any number of runs is one statement. */
const NEW_RUN: readonly (readonly [column: string, type: string, read: (run: NewRun) => unknown])[] = [
  ["id", "text", (run) => run.id],
  ["task", "text", (run) => run.task],
  ["payload", "text", (run) => JSON.stringify(run.payload)],
  ["priority", "integer", (run) => run.priority],
  ["schedule_id", "text", (run) => run.scheduleId],
  ["scheduled_for", "bigint", (run) => run.scheduledFor],
  ["triggered_by", "text", (run) => run.triggeredBy],
  ["trigger", "text", (run) => run.trigger],
  ["missed", "text", (run) => textOrNull(run.missed)],
  ["live_key", "text", (run) => run.liveKey],
  ["concurrency_key", "text", (run) => run.concurrencyKey],
  ["concurrency_limit", "integer", (run) => run.concurrencyLimit],
  ["retry", "text", (run) => textOrNull(run.retry)],
  ["timeout_ms", "bigint", (run) => run.timeoutMs],
  ["reason", "text", (run) => run.reason],
  ["by_name", "text", (run) => run.by],
  ["state", "text", (run) => run.state],
  ["delay_ms", "bigint", (run) => run.delayMs],
  ["not_before", "bigint", (run) => run.notBefore],
  ["message", "text", (run) => run.message],
]

export function newRunLists(runs: readonly NewRun[]): readonly (readonly unknown[])[] {
  return NEW_RUN.map(([, , read]) => runs.map(read))
}

/** For a function that takes such lists: `text[], text[], …`. */
export function newRunTypes(more: readonly [column: string, type: string][] = []): string {
  return [...NEW_RUN.map(([, type]) => type), ...more.map(([, type]) => type)]
    .map((type) => `${type}[]`)
    .join(", ")
}

/** `unnest($1::text[], …) as n(id, …)`: the lists as rows again, their parameters beginning at `first`. */
export function newRunRows(first: number, more: readonly [column: string, type: string][] = []): string {
  const columns = [...NEW_RUN.map(([column, type]) => [column, type] as const), ...more]
  const lists = columns.map(([, type], index) => `$${first + index}::${type}[]`)
  return `unnest(${lists.join(", ")}) with ordinality as n(${columns.map(([column]) => column).join(", ")}, place)`
}

export const NEW_RUN_COLUMNS = `
    id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger, missed, live_key, concurrency_key,
    concurrency_limit, retry, timeout_ms, reason, by_name, state, claimable_at, created_at, completed_at, message`

/** From a row `n` of new runs and the clock, in the order of `NEW_RUN_COLUMNS`. */
export const NEW_RUN_VALUES = `
    n.id, n.task, n.payload::jsonb, n.priority, n.schedule_id, to_timestamp(n.scheduled_for / 1000.0), n.triggered_by,
    n.trigger, n.missed::jsonb, n.live_key, n.concurrency_key, n.concurrency_limit, n.retry::jsonb, n.timeout_ms, n.reason,
    n.by_name, n.state,
    case
      when n.state = 'pending'
      then greatest(clock.now + n.delay_ms * interval '1 millisecond', to_timestamp(n.not_before / 1000.0))
    end,
    clock.now,
    case when n.state = 'skipped' then clock.now end,
    n.message`

export const workerColumns = `
    id, host, pid, to_json(tasks), slots, state, ${ms("started_at")}, ${ms("heartbeat_at")}, running`

export function workerOf(row: Row): Worker {
  const [id, host, pid, tasks, slots, state, startedAt, heartbeatAt, running] = row as readonly string[]
  return {
    id: id!,
    host: host!,
    pid: Number(pid),
    tasks: jsonOf(tasks!),
    slots: Number(slots),
    state: state as Worker["state"],
    startedAt: instantOf(startedAt!),
    heartbeatAt: instantOf(heartbeatAt!),
    running: Number(running),
  }
}

export function logLineOf([attempt, number, at, level, message, fields]: Row): StoredLogLine {
  return {
    attempt: Number(attempt),
    number: Number(number),
    at: instantOf(at!),
    level: level as LogLevel,
    message: message!,
    fields: jsonOf(fields as Text),
  }
}

export function numberOf(text: Text): number | null {
  return text === null ? null : Math.round(Number(text))
}

export function instantOf(text: string): Instant {
  return Math.round(Number(text))
}

export function jsonOf<T>(text: Text): T {
  return (text === null ? null : JSON.parse(text)) as T
}

export function textOrNull(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
}
