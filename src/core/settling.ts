import { owedUpTo } from "./catch-up.ts"
import type { Instant } from "./instant.ts"
import { newestPassed } from "./occurrence.ts"
import { settlePause } from "./pausing.ts"
import { type FireFacts, type FirePlan, planOf } from "./plan.ts"
import { planOwed } from "./plan-owed.ts"
import { assertReadable } from "./readable.ts"
import type { Schedule } from "./schedule.ts"

/**
 * Before an edit: whatever already had its time becomes a run now, even if jitter or a move still holds it back (it then
 * waits as a run). Otherwise the edit would take away an occurrence that was promised. What a pause has dropped so far is
 * recorded by the old timetable. Null if nothing is owed.
 */
export function settle(schedule: Schedule, facts: FireFacts, now: Instant): FirePlan | null {
  if (!schedule.enabled || schedule.lastError !== null) return null
  try {
    assertReadable(schedule)
    if (schedule.paused !== null) return settlePause(schedule, facts, now)
    const newest = newestPassed(schedule, now)
    if (newest === null) return null
    return planOwed(schedule, facts, owedUpTo(newest, schedule, now, facts.recorded), now)
  } catch (error) {
    // The edit may be what mends it.
    return planUnreadable(schedule, error)
  }
}

/**
 * Written past our door (by SQL, say), or by a version that knows more: whatever is wrong with it is shown on the schedule,
 * and the others go on.
 */
export function planUnreadable(schedule: Schedule, error: unknown): FirePlan {
  return planOf(schedule, {
    nextRunAt: null,
    lastError: error instanceof Error ? error.message : String(error),
  })
}
