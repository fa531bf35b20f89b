import type { LogLine, LogPage, StoredLogLine } from "../../../store/store.ts"
import { jsonText } from "../../kit/isolation.ts"
import type { Runner } from "../database.ts"
import { CLOCK, logLineOf, ms, spanFrom } from "../rows.ts"

// Lines of a deleted run are dropped. An existing line stays unchanged, also one that the same call has inserted.
const INSERT_LINES = `
  with ${CLOCK}
  insert into belfry.logs (run_id, attempt, number, at, level, message, fields)
  select r.id, l.attempt, l.number, clock.now - ${spanFrom("l.ago_ms")}, l.level, l.message, l.fields::jsonb
  from unnest($1::text[], $2::integer[], $3::integer[], $4::bigint[], $5::text[], $6::text[], $7::text[])
    with ordinality as l(run_id, attempt, number, ago_ms, level, message, fields, place)
  join belfry.runs as r on r.id = l.run_id
  cross join clock
  order by l.place
  on conflict (run_id, attempt, number) do nothing`

// By the primary key, which has this order.
export const SELECT_LINES = `
  select attempt, number, ${ms("at")}, level, message, fields
  from belfry.logs
  where run_id = $1
    and (attempt, number) > ($2, $3)
  order by attempt, number
  limit $4`

export async function appendLines(runner: Runner, lines: readonly LogLine[]): Promise<void> {
  if (lines.length === 0) return
  await runner.rows(INSERT_LINES, [
    lines.map((line) => line.runId),
    lines.map((line) => line.attempt),
    lines.map((line) => line.number),
    lines.map((line) => line.agoMs),
    lines.map((line) => line.level),
    lines.map((line) => line.message),
    lines.map((line) => jsonText(line.fields)),
  ])
}

export async function readLines(
  runner: Runner,
  { runId, after, limit }: LogPage,
): Promise<readonly StoredLogLine[]> {
  const { attempt, number } = after ?? { attempt: -1, number: -1 }
  return (await runner.rows(SELECT_LINES, [runId, attempt, number, limit])).map(logLineOf)
}
