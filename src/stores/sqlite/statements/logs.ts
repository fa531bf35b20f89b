import type { Instant } from "../../../core/time/instant.ts"
import type { LogLine, LogPage, StoredLogLine } from "../../../store/store.ts"
import { jsonText } from "../../kit/isolation.ts"
import type { Prepared } from "../prepared.ts"
import { type LogRow, logLineOf } from "../rows.ts"

// Lines of a run that isn't stored are dropped. A line that is stored already stays unchanged.
const INSERT_LINE = `
  insert into belfry_logs (run_id, attempt, number, at, level, message, fields)
  select id, ?, ?, ?, ?, ?, ?
  from belfry_runs
  where id = ?
  on conflict (run_id, attempt, number) do nothing`

// By the primary key, which has this order.
export const SELECT_LINES = `
  select attempt, number, at, level, message, fields
  from belfry_logs
  where run_id = ?
    and (attempt, number) > (?, ?)
  order by attempt, number
  limit ?`

export function appendLines(connection: Prepared, lines: readonly LogLine[], now: Instant): void {
  const insert = connection.prepare(INSERT_LINE)
  for (const { runId, attempt, number, level, message, fields, agoMs } of lines) {
    insert.run(attempt, number, now - agoMs, level, message, jsonText(fields), runId)
  }
}

export function readLines(connection: Prepared, { runId, after, limit }: LogPage): readonly StoredLogLine[] {
  const { attempt, number } = after ?? { attempt: -1, number: -1 }
  return (connection.prepare(SELECT_LINES).all(runId, attempt, number, limit) as LogRow[]).map(logLineOf)
}
