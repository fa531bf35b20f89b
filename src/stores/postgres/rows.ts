import type { Instant } from "../../core/instant.ts"
import { storedJson } from "../../core/json.ts"
import type { LogLevel, StoredLogLine, Worker } from "../../store/store.ts"
import { readableWorker } from "../kit/readable-worker.ts"

/** Rows as statements return them, and the records they stand for. Every value arrives as text: see `Database`. */

export type Text = string | null
export type Row = readonly Text[]

/*
 * Statements that are sent as they are, outside a function, are read with the session's `search_path`. A schema in it in which
 * others may create objects must not change what they mean. So they name functions by their schema, and give operators the exact
 * types that the server's own operators take: one that has to be fitted could be outbid by one in that schema that fits.
 */

/** An instant as milliseconds, but for a fraction that rounding takes away: exact arithmetic takes the server ten times as long. */
export const ms = (column: string) => `pg_catalog.date_part('epoch', ${column}) * 1000::float8`

/** The instant that a parameter gives in milliseconds. */
export const instantFrom = (parameter: string) =>
  `pg_catalog.to_timestamp(${parameter}::float8 / 1000::float8)`

/** The time span that a parameter or column gives in milliseconds. */
export const spanFrom = (value: string) => `${value}::float8 * interval '1 millisecond'`

export const NOW = "pg_catalog.date_trunc('milliseconds', pg_catalog.clock_timestamp())"

/** The store's clock, read once per statement. */
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

/** Undefined if it is nested deeper than can be shown: then the record isn't what its type says. */
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
