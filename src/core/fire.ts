import { owedUpTo } from "./catch-up.ts"
import { isEdited, planEdits } from "./edits.ts"
import type { Instant } from "./instant.ts"
import { newestDue } from "./occurrence.ts"
import { planPaused } from "./pausing.ts"
import { type FireFacts, type Plan, planFrom, planOf } from "./plan.ts"
import { type OwedOptions, planOwed } from "./plan-owed.ts"
import { assertReadable } from "./readable.ts"
import type { Schedule } from "./schedule.ts"
import { planOnHold, settle } from "./settling.ts"

/**
 * What this schedule owes at `now`, and when it is next due. Pure, so nodes that read the same schedule make the same
 * plan, and the store lets one of them through.
 */
export function planFire(schedule: Schedule, facts: FireFacts, now: Instant): Plan {
  try {
    assertReadable(schedule)
    // What is owed since the edits is fired by the next plan: then the schedule is still due.
    if (isEdited(schedule)) return planEdits(schedule, facts)
    if (!schedule.enabled) return planOf(schedule, { nextRunAt: null })
    if (schedule.coveredUntil === null) return planOf(schedule, planFrom(schedule, now))
    if (schedule.paused !== null) return planPaused(schedule, facts, now)
    const owed = owedUpTo(newestDue(schedule, now), schedule, now, facts.recorded)
    return planOwed(schedule, facts, owed, now, { canWait: true })
  } catch (error) {
    // Written without our checks (by SQL, say), or by a version that knows more.
    return planOnHold(schedule, error)
  }
}

/** Before an edit or an operator's step: what has to be fired first. Null if nothing is owed. See `settle`. */
export function planSettle(
  schedule: Schedule,
  facts: FireFacts,
  now: Instant,
  options: OwedOptions = { canWait: false },
): Plan | null {
  return isEdited(schedule) ? planFire(schedule, facts, now) : settle(schedule, facts, now, options)
}
