import type { Instant } from "../../core/instant.ts"
import type { LogLevel, StoredLogLine, Worker } from "../../store/store.ts"

/** Rows as statements return them, and the records they stand for. Every value arrives as text: see `Database`. */

export type Text = string | null
export type Row = readonly Text[]

/** An instant as milliseconds, but for a fraction that rounding takes away: exact arithmetic takes the server ten times as long. */
export const ms = (column: string) => `date_part('epoch', ${column}) * 1000`

/** The store's clock, read once per statement. */
export const CLOCK = "clock as materialized (select date_trunc('milliseconds', clock_timestamp()) as now)"

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
