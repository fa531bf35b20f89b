import type { Instant } from "../../core/instant.ts"
import type { NewRun, Run, RunChange, RunState, TriggeredBy } from "../../core/run.ts"
import type { LogLevel, StoredLogLine, Worker } from "../../store/store.ts"
import { type ListColumn, listsOf, listTypes, rowsOfLists } from "./lists.ts"

/** Rows as statements return them, and the records they stand for. Every value arrives as text: see `Database`. */

export type Text = string | null
export type Row = readonly Text[]

/** An instant as milliseconds, but for a fraction that rounding takes away: exact arithmetic takes the server ten times as long. */
export const ms = (column: string) => `date_part('epoch', ${column}) * 1000`

/** The store's clock, read once per statement. */
export const CLOCK = "clock as materialized (select date_trunc('milliseconds', clock_timestamp()) as now)"

/** A run as it is read: each column's type, and where it isn't simply that of a row `r`, what it is. */
const RUN: readonly RunColumn[] = [
  ["id", "text"],
  ["task", "text"],
  ["payload", "jsonb"],
  ["priority", "integer"],
  ["schedule_id", "text"],
  ["scheduled_for", "timestamptz"],
  ["triggered_by", "text"],
  ["trigger", "text"],
  ["live_key", "text"],
  ["concurrency_key", "text"],
  ["concurrency_limit", "integer"],
  ["attempt", "integer"],
  ["created_at", "timestamptz"],
  ["rest", "json", restOf],
]

/**
 * What most runs that are claimed have nothing of, as one value. Node takes its time for columns that are null, too: 2.9 µs for
 * a row of 28 of which 10 are not, 1.3 for one of 14.
 */
function restOf(r: string): string {
  const names = ["missed", "retry", "timeout_ms", "reason", "by_name", "message", "details", "error"]
  const columns = names.map((column) => `${r}.${column}`).join(", ")
  return `case
      when num_nonnulls(${columns}, ${r}.attempts, ${r}.outcome) > 0 or ${r}.failures > 0 or ${r}.lost > 0
      then json_build_array(${columns}, ${r}.failures, ${r}.lost, ${storyOf(r)})
    end`
}

type Rest = readonly [
  ...(readonly [Run["missed"], Run["retry"], Run["timeoutMs"], Run["reason"], Run["by"]]),
  ...(readonly [Run["message"], Run["details"], Run["error"]]),
  ...(readonly [failures: number, lost: number, attempts: Run["attempts"] | null]),
]
const NO_REST: Rest = [null, null, null, null, null, null, null, null, 0, 0, null]

/** What whoever claims a run knows without being told. */
const STEP: readonly RunColumn[] = [
  ["state", "text"],
  ["claimable_at", "timestamptz"],
  // It stays in the row for the story's sake.
  ["worker_id", "text", (r) => `case when ${r}.state = 'running' then ${r}.worker_id end`],
  ["started_at", "timestamptz"],
  ["completed_at", "timestamptz"],
  ["progress", "jsonb"],
]

type RunColumn = readonly [column: string, type: string, value?: (r: string) => string]

/** The attempts that have ended: the newest of them stands in columns of its own until the next begins. */
export function storyOf(r: string): string {
  return `case
      when ${r}.outcome is null then ${r}.attempts
      else belfry.with_attempt(
        ${r}.attempts, ${r}.attempt, ${r}.worker_id, ${r}.started_at, ${r}.ended_at, ${r}.outcome, ${r}.error
      )
    end`
}

export const runColumns = (r: string) => columnsOf([...RUN, ...STEP], r)

/** Of a run that has just been claimed. */
export const claimedColumns = (r: string) => columnsOf(RUN, r)
export const CLAIMED_TYPES = RUN.map(
  ([column, type]) => `${column} ${type === "timestamptz" ? "float8" : type}`,
).join(", ")

function columnsOf(columns: readonly RunColumn[], r: string): string {
  return columns
    .map(([column, type, value]) => {
      const own = `${r}.${column}`
      return value?.(r) ?? (type === "timestamptz" ? ms(own) : own)
    })
    .join(", ")
}

type Step = Pick<Run, "state" | "claimableAt" | "workerId" | "startedAt" | "completedAt" | "progress">

/** By place, in the order of `runColumns`; `from` is where they begin in the row. */
export function runOf(row: Row, from = 0, step: Step = stepOf(row, from + RUN.length)): Run {
  const text = (place: number) => row[from + place] as string
  const optional = (place: number) => row[from + place] as Text
  const [missed, retry, timeoutMs, reason, by, message, details, error, failures, lost, attempts] =
    jsonOf<Rest | null>(optional(13)) ?? NO_REST
  return {
    id: text(0),
    task: text(1),
    payload: jsonOf(optional(2)),
    priority: Number(text(3)),
    scheduleId: optional(4),
    scheduledFor: numberOf(optional(5)),
    triggeredBy: text(6) as TriggeredBy,
    trigger: optional(7),
    missed,
    liveKey: optional(8),
    concurrencyKey: optional(9),
    concurrencyLimit: numberOf(optional(10)),
    retry,
    timeoutMs,
    reason,
    by,
    state: step.state,
    claimableAt: step.claimableAt,
    attempt: Number(text(11)),
    failures,
    lost,
    workerId: step.workerId,
    createdAt: instantOf(text(12)),
    startedAt: step.startedAt,
    completedAt: step.completedAt,
    message,
    details,
    error,
    progress: step.progress,
    attempts: attempts ?? [],
  }
}

function stepOf(row: Row, from: number): Step {
  const [state, claimableAt, workerId, startedAt, completedAt, progress] = row.slice(from) as Text[]
  return {
    state: state as RunState,
    claimableAt: numberOf(claimableAt!),
    workerId: workerId!,
    startedAt: numberOf(startedAt!),
    completedAt: numberOf(completedAt!),
    progress: jsonOf(progress!),
  }
}

/** A new run as parameters: one list for each column, so that any number of runs is one statement. */
const NEW_RUN: readonly ListColumn<NewRun>[] = [
  ["id", "text", (run) => run.id],
  ["task", "text", (run) => run.task, "shared"],
  ["payload", "text", (run) => (run.payload === null ? null : JSON.stringify(run.payload))],
  ["priority", "integer", (run) => run.priority, "shared"],
  ["schedule_id", "text", (run) => run.scheduleId],
  ["scheduled_for", "bigint", (run) => run.scheduledFor],
  ["triggered_by", "text", (run) => run.triggeredBy, "shared"],
  ["trigger", "text", (run) => run.trigger],
  ["missed", "text", (run) => textOrNull(run.missed)],
  ["live_key", "text", (run) => run.liveKey],
  ["concurrency_key", "text", (run) => run.concurrencyKey],
  ["concurrency_limit", "integer", (run) => run.concurrencyLimit],
  ["retry", "text", (run) => textOrNull(run.retry)],
  ["timeout_ms", "bigint", (run) => run.timeoutMs],
  ["reason", "text", (run) => run.reason],
  ["by_name", "text", (run) => run.by],
  ["state", "text", (run) => run.state, "shared"],
  ["delay_ms", "bigint", (run) => run.delayMs, "shared"],
  ["not_before", "bigint", (run) => run.notBefore],
  ["message", "text", (run) => run.message],
]

export const NEW_RUN_PARAMETERS = NEW_RUN.length
/** Which of them has the live keys. */
export const LIVE_KEYS = 1 + NEW_RUN.findIndex(([column]) => column === "live_key")

export function newRunLists(runs: readonly NewRun[]): readonly unknown[] {
  return listsOf(NEW_RUN, runs)
}

/** For a function that takes such lists: `text[], text[], …`. */
export function newRunTypes(more: readonly ListColumn<never>[] = []): string {
  return listTypes([...NEW_RUN, ...more])
}

/** The lists as rows `n` again, their parameters beginning at `first`. */
export function newRunRows(first: number, more: readonly ListColumn<never>[] = []): string {
  return `(${rowsOfLists([...NEW_RUN, ...more], first)}) as n`
}

/** One step of a run as parameters. */
export const RUN_CHANGE: readonly ListColumn<RunChange>[] = [
  ["id", "text", (change) => change.runId],
  ["if_state", "text", (change) => change.ifState, "shared"],
  ["if_attempt", "integer", (change) => change.ifAttempt, "shared"],
  ["state", "text", (change) => change.state, "shared"],
  ["claimable_in_ms", "bigint", (change) => change.claimableInMs],
  ["failures", "integer", (change) => change.failures, "shared"],
  ["lost", "integer", (change) => change.lost, "shared"],
  ["outcome", "text", (change) => change.outcome],
  ["message", "text", (change) => change.message],
  ["details", "text", (change) => (change.details === null ? null : JSON.stringify(change.details))],
  ["error", "text", (change) => change.error],
  ["reason", "text", (change) => change.reason],
  ["by_name", "text", (change) => change.by],
]

export const NEW_RUN_COLUMNS = `
    id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger, missed, live_key, concurrency_key,
    concurrency_limit, retry, timeout_ms, reason, by_name, state, claimable_at, created_at, completed_at, message`

/** From a row `n` of new runs, in the order of `NEW_RUN_COLUMNS`. */
export const newRunValues = (now: string) => `
    n.id, n.task, n.payload::jsonb, n.priority, n.schedule_id, to_timestamp(n.scheduled_for / 1000.0), n.triggered_by,
    n.trigger, n.missed::jsonb, n.live_key, n.concurrency_key, n.concurrency_limit, n.retry::jsonb, n.timeout_ms, n.reason,
    n.by_name, n.state,
    case
      when n.state = 'pending'
      then greatest(${now} + n.delay_ms * interval '1 millisecond', to_timestamp(n.not_before / 1000.0))
    end,
    ${now},
    case when n.state = 'skipped' then ${now} end,
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
