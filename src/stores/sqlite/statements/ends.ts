import type { EndState } from "../../../core/schedule/schedule.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { Prepared } from "../prepared.ts"

// `afterEnd` in SQL. A count that can't be read starts again at 0.
const RECORD_END = `
  update belfry_schedules
  set last_state = ?1,
    last_ended_at = ?2,
    last_success_at = case ?1 when 'succeeded' then ?2 else last_success_at end,
    failures_in_a_row = case
      when ?1 = 'succeeded' then 0
      when failures_in_a_row between 0 and ${Number.MAX_SAFE_INTEGER - 1} then failures_in_a_row + (?1 = 'failed')
      else ?1 = 'failed'
    end
  where id = ?3`

const SELECT_SCHEDULE_OF = `
  select schedule_id
  from belfry_runs
  where rowid = ?`

/** Records on the schedule that one of its runs has ended. */
export function recordEnd(connection: Prepared, scheduleId: string, state: EndState, now: Instant): void {
  connection.prepare(RECORD_END).run(state, now, scheduleId)
}

/** Like `recordEnd`, for a run that can't be read. */
export function recordUnreadableEnd(connection: Prepared, rowid: number, now: Instant): void {
  const run = connection.prepare(SELECT_SCHEDULE_OF).get(rowid) as { schedule_id: unknown } | undefined
  if (typeof run?.schedule_id === "string") recordEnd(connection, run.schedule_id, "failed", now)
}
