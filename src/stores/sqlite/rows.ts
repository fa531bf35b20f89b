import { unreadableRun } from "../../core/records/damaged-records.ts"
import { assertValidRun } from "../../core/records/valid-records.ts"
import { type Attempt, firstClaimableAt, type NewRun, type Run } from "../../core/run/run.ts"
import type { Instant } from "../../core/time/instant.ts"
import type { Json } from "../../core/values/json.ts"
import { storedJson } from "../../core/values/json.ts"
import type { LogLevel, StoredLogLine, Worker } from "../../store/store.ts"
import { finite, jsonText, jsonTextOrNull, unreadableBecause } from "../kit/isolation.ts"
import { readableWorker } from "../kit/readable-worker.ts"
import { columnsOf, placesOf, type RecordTable, type RowOf } from "../kit/record-table.ts"
import type { Value } from "./driver.ts"

/** Conversion between the rows of tables and records. */

const RUN = [
  ["id", "id"],
  ["task", "task"],
  ["payload", "payload"],
  ["priority", "priority"],
  ["scheduleId", "schedule_id"],
  ["scheduledFor", "scheduled_for"],
  ["triggeredBy", "triggered_by"],
  ["trigger", "trigger_text"],
  ["missed", "missed"],
  ["liveKey", "live_key"],
  ["concurrencyKey", "concurrency_key"],
  ["concurrencyLimit", "concurrency_limit"],
  ["retry", "retry"],
  ["timeoutMs", "timeout_ms"],
  ["reason", "reason"],
  ["by", "by_name"],
  ["state", "state"],
  ["claimableAt", "claimable_at"],
  ["attempt", "attempt"],
  ["failures", "failures"],
  ["lost", "lost"],
  ["workerId", "worker_id"],
  ["createdAt", "created_at"],
  ["dueAt", "due_at"],
  ["startedAt", "started_at"],
  ["completedAt", "completed_at"],
  ["message", "message"],
  ["details", "details"],
  ["error", "error"],
  ["progress", "progress"],
  ["attempts", "attempts"],
  ["parentId", "parent_id"],
] as const satisfies RecordTable

/** Some values are stored as JSON. */
type StoredRun = Omit<Run, "payload" | "details" | "attempts" | "missed" | "retry" | "progress"> & {
  readonly payload: string
  readonly details: string
  readonly attempts: string
  readonly missed: string | null
  readonly retry: string | null
  readonly progress: string | null
}

/** A list: SQLite's drivers make a list in half the time of an object. */
export type RunRow = RowOf<typeof RUN, StoredRun>

export const RUN_COLUMNS = columnsOf(RUN)

export const RUN_AT = placesOf(RUN)

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
  const at = RUN_AT
  return {
    id: row[at.id],
    task: row[at.task],
    payload: parse(row[at.payload]),
    priority: row[at.priority],
    scheduleId: row[at.scheduleId],
    scheduledFor: row[at.scheduledFor],
    parentId: row[at.parentId],
    triggeredBy: row[at.triggeredBy],
    trigger: row[at.trigger],
    missed: parseOrNull(row[at.missed]),
    liveKey: row[at.liveKey],
    concurrencyKey: row[at.concurrencyKey],
    concurrencyLimit: row[at.concurrencyLimit],
    retry: parseOrNull(row[at.retry]),
    timeoutMs: row[at.timeoutMs],
    reason: row[at.reason],
    by: row[at.by],
    state: row[at.state],
    claimableAt: row[at.claimableAt],
    attempt: row[at.attempt],
    failures: row[at.failures],
    lost: row[at.lost],
    workerId: row[at.workerId],
    createdAt: row[at.createdAt],
    dueAt: row[at.dueAt],
    startedAt: row[at.startedAt],
    completedAt: row[at.completedAt],
    message: row[at.message],
    details: parse(row[at.details]),
    error: row[at.error],
    progress: parseOrNull(row[at.progress]),
    attempts: parse(row[at.attempts]),
  }
}

/** The columns that differ between new runs, and their values. The statement has the initial values of the others. */
const NEW_RUN: readonly (readonly [column: string, value: (run: NewRun, now: Instant) => Value])[] = [
  ["id", (run) => run.id],
  ["task", (run) => run.task],
  ["payload", (run) => jsonText(run.payload)],
  ["priority", (run) => run.priority],
  ["schedule_id", (run) => run.scheduleId],
  ["scheduled_for", (run) => run.scheduledFor],
  ["triggered_by", (run) => run.triggeredBy],
  ["trigger_text", (run) => run.trigger],
  ["missed", (run) => jsonTextOrNull(run.missed)],
  ["live_key", (run) => run.liveKey],
  ["concurrency_key", (run) => run.concurrencyKey],
  ["concurrency_limit", (run) => run.concurrencyLimit],
  ["retry", (run) => jsonTextOrNull(run.retry)],
  ["timeout_ms", (run) => run.timeoutMs],
  ["reason", (run) => run.reason],
  ["by_name", (run) => run.by],
  ["state", (run) => run.state],
  ["claimable_at", (run, now) => (run.state === "skipped" ? null : finite(firstClaimableAt(run, now)))],
  ["created_at", (_, now) => now],
  ["completed_at", (run, now) => (run.state === "skipped" ? now : null)],
  ["message", (run) => run.message],
  ["parent_id", (run) => run.parentId],
]

export const NEW_RUN_COLUMNS = NEW_RUN.map(([column]) => column)

/** In the order of `NEW_RUN_COLUMNS`. */
export function newRunValues(run: NewRun, now: Instant): readonly Value[] {
  return NEW_RUN.map(([, value]) => value(run, now))
}

const WORKER = [
  ["id", "id"],
  ["host", "host"],
  ["pid", "pid"],
  ["tasks", "tasks"],
  ["slots", "slots"],
  ["state", "state"],
  ["startedAt", "started_at"],
  ["heartbeatAt", "heartbeat_at"],
  ["running", "running"],
  ["roles", "roles"],
  ["version", "version"],
  ["labels", "labels"],
  ["expectedBy", "expected_by"],
] as const satisfies RecordTable

const JSON_OF_WORKER: readonly string[] = ["tasks", "roles", "labels"]

export const WORKER_COLUMNS = columnsOf(WORKER)

/** In the order of `WORKER_COLUMNS`. Workers are few, so a loop over the table reads them. */
export function workerOf(row: readonly unknown[]): Worker {
  const fields = WORKER.map(([field], place) => {
    const value = row[place]
    return [field, JSON_OF_WORKER.includes(field) ? parseOrNothing(value as string) : value]
  })
  return readableWorker(Object.fromEntries(fields))
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
