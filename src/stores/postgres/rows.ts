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

export const workerColumns = `
    id, host, pid, pg_catalog.to_json(tasks), slots, state, ${ms("started_at")}, ${ms("heartbeat_at")}, running,
    pg_catalog.to_json(roles), version, labels, ${ms("expected_by")}`

export function workerOf(row: Row): Worker {
  const [id, host, pid, tasks, slots, state, startedAt, heartbeatAt, running] = row as readonly string[]
  const [roles, version, labels, expectedBy] = row.slice(9) as readonly Text[]
  return readableWorker({
    id,
    host,
    pid: Number(pid),
    tasks: jsonOf(tasks!),
    slots: Number(slots),
    state,
    startedAt: instantOf(startedAt!),
    heartbeatAt: instantOf(heartbeatAt!),
    running: Number(running),
    roles: jsonOf(roles!),
    version,
    labels: jsonOf(labels!),
    expectedBy: numberOf(expectedBy!),
  })
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

/** Undefined if the JSON is nested too deep; then the record is unreadable. */
export function jsonOf<T>(text: Text): T {
  if (text === null) return null as T
  try {
    return storedJson(text)
  } catch {
    return undefined as T
  }
}

export function textOrNull(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
}
