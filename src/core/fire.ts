import { owedUpTo } from "./catch-up.ts"
import type { Instant } from "./instant.ts"
import { newestDue, newestPassed } from "./occurrence.ts"
import { planPaused, settlePause } from "./pausing.ts"
import { type FireFacts, type FirePlan, planFrom, planOf } from "./plan.ts"
import { planOwed } from "./plan-owed.ts"
import type { Schedule } from "./schedule.ts"
import { storable } from "./thrown.ts"

/**
 * What this schedule owes at `now`, and when it is next due. Pure, so nodes that read the same schedule make the same
 * plan, and the store lets one of them through.
 */
export function planFire(schedule: Schedule, facts: FireFacts, now: Instant): FirePlan {
  try {
    if (!schedule.enabled) return planOf(schedule, { nextRunAt: null })
    if (schedule.coveredUntil === null) return planOf(schedule, planFrom(schedule, now))
    if (schedule.paused !== null) return planPaused(schedule, facts, now)
    const owed = owedUpTo(newestDue(schedule, now), schedule, now, facts.recorded)
    return planOwed(schedule, facts, owed, now, { canWait: true })
  } catch (error) {
    // Written past our door (by SQL, say), or by a version that knows more.
    return planOnHold(schedule, error)
  }
}

/** Whatever is wrong is shown on the schedule, which waits for somebody to mend it, and the others go on. */
export function planOnHold(schedule: Schedule, error: unknown): FirePlan {
  const lastError = error instanceof Error ? error.message : String(error)
  return planOf(schedule, { nextRunAt: null, lastError: storable(lastError, LAST_ERROR_MAX_BYTES) })
}

const LAST_ERROR_MAX_BYTES = 2_000

/**
 * Before an edit: whatever already had its time becomes a run now, even if jitter or a move still holds it back (it then
 * waits as a run). Otherwise the edit would take away an occurrence that was promised. What a pause has dropped so far is
 * recorded by the old timetable. Null if nothing is owed.
 */
export function planSettle(schedule: Schedule, facts: FireFacts, now: Instant): FirePlan | null {
  if (!schedule.enabled || schedule.lastError !== null) return null
  try {
    if (schedule.paused !== null) return settlePause(schedule, facts, now)
    const newest = newestPassed(schedule, now)
    if (newest === null) return null
    return planOwed(schedule, facts, owedUpTo(newest, schedule, now, facts.recorded), now)
  } catch (error) {
    // The edit may be what mends it.
    return planOnHold(schedule, error)
  }
}
