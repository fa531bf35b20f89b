import type { Instant } from "../../core/time/instant.ts"
import { storedJson } from "../../core/values/json.ts"
import type { LogLevel, StoredLogLine, Worker } from "../../store/store.ts"
import { readableWorker } from "../kit/readable-worker.ts"

/** Converts rows of statements to records. Every value arrives as text: see `AS_TEXT`. */

export type Text = string | null
export type Row = readonly Text[]

/*
 * Statements outside our functions are parsed with the session's `search_path`. A schema in it where other users may create
 * objects must not change their meaning. So they qualify functions with their schema, and give operators operands of exactly the
 * types that PostgreSQL's own operators take: with other types, an operator in that schema could match better.
 */

/** An instant in milliseconds as float8; the caller rounds it. Exact numeric arithmetic takes the server ten times as long. */
export const ms = (column: string) => `pg_catalog.date_part('epoch', ${column}) * 1000::float8`

/** Converts a parameter in milliseconds to an instant. */
export const instantFrom = (parameter: string) =>
  `pg_catalog.to_timestamp(${parameter}::float8 / 1000::float8)`

/** Converts a parameter or column in milliseconds to an interval. */
export const spanFrom = (value: string) => `${value}::float8 * interval '1 millisecond'`

export const NOW = "pg_catalog.date_trunc('milliseconds', pg_catalog.clock_timestamp())"

/** The store's clock, which is read once per statement. */
export const CLOCK = `clock as materialized (select ${NOW} as now)`

/** The columns of a worker: field, expression, and how its text is read. */
const WORKER: readonly (readonly [field: keyof Worker, value: string, read: (text: Text) => unknown])[] = [
  ["id", "id", textOf],
  ["host", "host", textOf],
  ["pid", "pid", numberOf],
  ["tasks", "pg_catalog.to_json(tasks)", jsonOf],
  ["slots", "slots", numberOf],
  ["state", "state", textOf],
  ["startedAt", ms("started_at"), numberOf],
  ["heartbeatAt", ms("heartbeat_at"), numberOf],
  ["running", "running", numberOf],
  ["roles", "pg_catalog.to_json(roles)", jsonOf],
  ["version", "version", textOf],
  ["labels", "labels", jsonOf],
  ["expectedBy", ms("expected_by"), numberOf],
]

export const WORKER_COLUMNS = WORKER.map(([, value]) => value).join(", ")

/** In the order of `WORKER_COLUMNS`. Workers are few, so a loop over the table reads them. */
export function workerOf(row: Row): Worker {
  return readableWorker(
    Object.fromEntries(WORKER.map(([field, , read], place) => [field, read(row[place] as Text)])),
  )
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

function textOf(text: Text): Text {
  return text
}

export function numberOf(text: Text): number | null {
  return text === null ? null : Math.round(Number(text))
}

export function instantOf(text: string): Instant {
  return Math.round(Number(text))
}

/** Undefined if the JSON is nested too deep; then the record is unreadable. */
export function jsonOf<T>(text: Text): T {
  if (text === null) return null as T
  try {
    return storedJson(text)
  } catch {
    return undefined as T
  }
}
