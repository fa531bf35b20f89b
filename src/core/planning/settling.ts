import { assertPlannable } from "../records/plannable-schedule.ts"
import type { Schedule } from "../schedule/schedule.ts"
import type { Instant } from "../time/instant.ts"
import { storable } from "../values/thrown.ts"
import { owedUpTo } from "./catch-up.ts"
import { newestPassed } from "./occurrence.ts"
import { settlePause } from "./pausing.ts"
import { type FireFacts, type Plan, planOf } from "./plan.ts"
import { type OwedOptions, planOwed } from "./plan-owed.ts"
import { settleSkipped } from "./skipped-by-reschedule.ts"

/**
 * The plan to make before an edit. Every occurrence with a nominal instant up to `now` becomes a run, even if jitter or a move
 * delays it: it waits as a run. Otherwise the edit would remove it. Occurrences dropped by a pause are recorded by the old
 * timetable. With `canWait`, occurrences that wait for room in their queue stay owed. Null if there is nothing to fire or record.
 */
export function settle(
  schedule: Schedule,
  facts: FireFacts,
  now: Instant,
  { canWait }: OwedOptions,
): Plan | null {
  if (!schedule.enabled || schedule.lastError !== null) return null
  try {
    assertPlannable(schedule)
    if (schedule.paused !== null) return settlePause(schedule, facts, now)
    const newest = newestPassed(schedule, now)
    if (newest === null) return canWait ? null : settleSkipped(schedule, facts, now)
    const owed = owedUpTo(newest, schedule, now, facts.recorded)
    const plan = planOwed(schedule, facts, owed, now, { canWait })
    return canWait && plan.runs.length === 0 ? null : plan
  } catch (error) {
    // The edit may repair the schedule.
    return planOnHold(schedule, error)
  }
}

/** Puts a schedule on hold: `lastError` says why, and it is not due until it is repaired. Other schedules are not affected. */
export function planOnHold(schedule: Schedule, error: unknown): Plan {
  const lastError = error instanceof Error ? error.message : String(error)
  return planOf(schedule, { nextRunAt: null, lastError: storable(lastError, LAST_ERROR_MAX_BYTES) })
}

const LAST_ERROR_MAX_BYTES = 2_000
