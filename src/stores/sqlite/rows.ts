import type { Instant } from "../../core/instant.ts"
import {
  ATTEMPTS_KEPT,
  type Attempt,
  type AttemptOutcome,
  type NewRun,
  type Run,
  type RunState,
  type TriggeredBy,
} from "../../core/run.ts"
import type { LogLevel, StoredLogLine, Worker } from "../../store/store.ts"
import type { Value } from "./driver.ts"

/** Rows as the tables have them, and the records they stand for. */

/** In the order of the table, so that a row can be read and written by place. */
export const RUN_COLUMNS = `
  id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger_text, missed, live_key,
  concurrency_key, concurrency_limit, retry, timeout_ms, reason, by_name, state, claimable_at, attempt, failures,
  lost, worker_id, created_at, started_at, completed_at, message, details, error, progress, attempts`

/** By place: SQLite's drivers make a list in half the time of an object, and a run has thirty columns. */
export type RunRow = readonly [
  id: string,
  task: string,
  payload: string,
  priority: number,
  scheduleId: string | null,
  scheduledFor: number | null,
  triggeredBy: TriggeredBy,
  trigger: string | null,
  missed: string | null,
  liveKey: string | null,
  concurrencyKey: string | null,
  concurrencyLimit: number | null,
  retry: string | null,
  timeoutMs: number | null,
  reason: string | null,
  by: string | null,
  state: RunState,
  claimableAt: number | null,
  attempt: number,
  failures: number,
  lost: number,
  workerId: string | null,
  createdAt: number,
  startedAt: number | null,
  completedAt: number | null,
  message: string | null,
  details: string,
  error: string | null,
  progress: string | null,
  attempts: string,
]

export function runOf(row: RunRow): Run {
  const [id, task, payload, priority, scheduleId, scheduledFor, triggeredBy, trigger, missed, ...more] = row
  const [liveKey, concurrencyKey, concurrencyLimit, retry, timeoutMs, reason, by, state, ...still] = more
  const [claimableAt, attempt, failures, lost, workerId, createdAt, startedAt, completedAt, ...rest] = still
  const [message, details, error, progress, attempts] = rest
  return {
    id,
    task,
    payload: parse(payload),
    priority,
    scheduleId,
    scheduledFor,
    triggeredBy,
    trigger,
    missed: parseOrNull(missed),
    liveKey,
    concurrencyKey,
    concurrencyLimit,
    retry: parseOrNull(retry),
    timeoutMs,
    reason,
    by,
    state,
    claimableAt,
    attempt,
    failures,
    lost,
    workerId,
    createdAt,
    startedAt,
    completedAt,
    message,
    details: parse(details),
    error,
    progress: parseOrNull(progress),
    attempts: parse(attempts),
  }
}

/** The values of a new run, in the order of `RUN_COLUMNS`. */
export function newRunValues(run: NewRun, now: Instant): readonly Value[] {
  const isSkip = run.state === "skipped"
  return [
    run.id,
    run.task,
    JSON.stringify(run.payload),
    run.priority,
    run.scheduleId,
    run.scheduledFor,
    run.triggeredBy,
    run.trigger,
    textOrNull(run.missed),
    run.liveKey,
    run.concurrencyKey,
    run.concurrencyLimit,
    textOrNull(run.retry),
    run.timeoutMs,
    run.reason,
    run.by,
    run.state,
    isSkip ? null : Math.max(now + run.delayMs, run.notBefore ?? 0),
    ...[0, 0, 0, null],
    now,
    null,
    isSkip ? now : null,
    run.message,
    ...["null", null, null, "[]"],
  ]
}

/** The story with one more attempt ended. */
export function withAttempt(
  run: Pick<Run, "attempt" | "workerId" | "startedAt" | "attempts">,
  ended: { outcome: AttemptOutcome; at: Instant; error: string | null },
): readonly Attempt[] {
  const attempt: Attempt = {
    attempt: run.attempt,
    workerId: run.workerId ?? "",
    startedAt: run.startedAt ?? ended.at,
    endedAt: ended.at,
    outcome: ended.outcome,
    error: ended.error,
  }
  return [...run.attempts, attempt].slice(-ATTEMPTS_KEPT)
}

export interface WorkerRow {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly tasks: string
  readonly slots: number
  readonly state: string
  readonly started_at: number
  readonly heartbeat_at: number
  readonly running: number
}

export function workerOf(row: WorkerRow): Worker {
  const { id, host, pid, slots, running } = row
  return {
    ...{ id, host, pid, slots, running },
    tasks: parse(row.tasks),
    state: row.state as Worker["state"],
    startedAt: row.started_at,
    heartbeatAt: row.heartbeat_at,
  }
}

export interface LogRow {
  readonly attempt: number
  readonly number: number
  readonly at: number
  readonly level: string
  readonly message: string
  readonly fields: string
}

export function logLineOf({ level, fields, attempt, number, at, message }: LogRow): StoredLogLine {
  return { attempt, number, at, message, level: level as LogLevel, fields: parse(fields) }
}

export function parse<T>(text: string): T {
  return JSON.parse(text) as T
}

export function parseOrNull<T>(text: string | null): T | null {
  return text === null ? null : parse<T>(text)
}

export function textOrNull(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
}
