import { unreadableRun } from "../../core/records/unreadable.ts"
import { assertValidRun } from "../../core/records/valid-records.ts"
import {
  ATTEMPTS_KEPT,
  type Attempt,
  type AttemptOutcome,
  firstClaimableAt,
  type NewRun,
  type Run,
  type RunState,
  type TriggeredBy,
} from "../../core/run/run.ts"
import type { Instant } from "../../core/time/instant.ts"
import type { Json } from "../../core/values/json.ts"
import { storedJson } from "../../core/values/json.ts"
import type { LogLevel, StoredLogLine, Worker } from "../../store/store.ts"
import { finite, jsonText, unreadableBecause } from "../kit/isolation.ts"
import { readableWorker } from "../kit/readable-worker.ts"
import type { Value } from "./driver.ts"

/** Conversion between the rows of tables and records. */

/** In the order of the table, so that a row can be read and written by position. */
export const RUN_COLUMNS = `
  id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger_text, missed, live_key,
  concurrency_key, concurrency_limit, retry, timeout_ms, reason, by_name, state, claimable_at, attempt, failures,
  lost, worker_id, created_at, due_at, started_at, completed_at, message, details, error, progress, attempts,
  parent_id`

/** A list: SQLite's drivers make a list in half the time of an object, and a run has thirty columns. */
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
  dueAt: number | null,
  startedAt: number | null,
  completedAt: number | null,
  message: string | null,
  details: string,
  error: string | null,
  progress: string | null,
  attempts: string,
  parentId: string | null,
]

/** For lists and details. A run that can't be read has the fields that can be read, and the reason as its error. */
export function readableRunOf(row: RunRow): Run {
  try {
    return runOf(row)
  } catch (error) {
    return unreadableRun(partsOf(row, parseOrNothing), unreadableBecause(error))
  }
}

/** Throws if the row can't be read. */
export function runOf(row: RunRow): Run {
  const run = partsOf(row, parse)
  assertValidRun(run)
  return run
}

function partsOf(row: RunRow, parse: <T>(text: string) => T): Run {
  const parseOrNull = <T>(text: string | null): T | null => (text === null ? null : parse<T>(text))
  // By index, without destructuring: claims read thirty thousand rows in a second.
  return {
    id: row[0],
    task: row[1],
    payload: parse(row[2]),
    priority: row[3],
    scheduleId: row[4],
    scheduledFor: row[5],
    parentId: row[31],
    triggeredBy: row[6],
    trigger: row[7],
    missed: parseOrNull(row[8]),
    liveKey: row[9],
    concurrencyKey: row[10],
    concurrencyLimit: row[11],
    retry: parseOrNull(row[12]),
    timeoutMs: row[13],
    reason: row[14],
    by: row[15],
    state: row[16],
    claimableAt: row[17],
    attempt: row[18],
    failures: row[19],
    lost: row[20],
    workerId: row[21],
    createdAt: row[22],
    dueAt: row[23],
    startedAt: row[24],
    completedAt: row[25],
    message: row[26],
    details: parse(row[27]),
    error: row[28],
    progress: parseOrNull(row[29]),
    attempts: parse(row[30]),
  }
}

/** The columns that differ between new runs. The statement has the initial values of the others. */
export const NEW_RUN_COLUMNS = `
  id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger_text, missed, live_key,
  concurrency_key, concurrency_limit, retry, timeout_ms, reason, by_name, state, claimable_at, created_at, completed_at,
  message, parent_id`

/** In the order of `NEW_RUN_COLUMNS`. */
export function newRunValues(run: NewRun, now: Instant): readonly Value[] {
  const isSkip = run.state === "skipped"
  return [
    run.id,
    run.task,
    jsonText(run.payload),
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
    isSkip ? null : finite(firstClaimableAt(run, now)),
    now,
    isSkip ? now : null,
    run.message,
    run.parentId,
  ]
}

/** The run's attempts, with the current attempt ended. */
export function withAttempt(
  run: Pick<Run, "attempt" | "workerId" | "dueAt" | "startedAt" | "attempts">,
  ended: { outcome: AttemptOutcome; at: Instant; error: string | null },
): readonly Attempt[] {
  const attempt: Attempt = {
    attempt: run.attempt,
    workerId: run.workerId ?? "",
    dueAt: run.dueAt ?? run.startedAt ?? ended.at,
    startedAt: run.startedAt ?? ended.at,
    endedAt: ended.at,
    outcome: ended.outcome,
    error: ended.error,
  }
  return [...run.attempts, attempt].slice(-ATTEMPTS_KEPT)
}

export const WORKER_COLUMNS =
  "id, host, pid, tasks, slots, state, started_at, heartbeat_at, running, roles, version, labels, expected_by"

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
  readonly roles: string
  readonly version: string
  readonly labels: string
  readonly expected_by: number | null
}

export function workerOf(row: WorkerRow): Worker {
  const { tasks, roles, labels, started_at: startedAt, heartbeat_at: heartbeatAt, ...rest } = row
  return readableWorker({
    ...rest,
    tasks: parseOrNothing(tasks),
    roles: parseOrNothing(roles),
    labels: parseOrNothing(labels),
    startedAt,
    heartbeatAt,
    expectedBy: row.expected_by,
  })
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
  return {
    attempt,
    number,
    at,
    message,
    level: level as LogLevel,
    fields: parseOrNothing<Json>(fields) ?? null,
  }
}

/** The stored attempts. An unreadable list is read as empty. */
export function attemptsIn(text: string): readonly Attempt[] {
  const attempts = parseOrNothing<readonly Attempt[]>(text)
  return Array.isArray(attempts) ? attempts : []
}

export function parse<T>(text: string): T {
  return storedJson(text)
}

/** Undefined: not JSON. */
export function parseOrNothing<T>(text: string): T {
  try {
    return parse(text)
  } catch {
    return undefined as T
  }
}

export function textOrNull(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
}
