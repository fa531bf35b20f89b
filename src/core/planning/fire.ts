import { assertPlannable } from "../records/plannable-schedule.ts"
import type { Schedule } from "../schedule/schedule.ts"
import type { Instant } from "../time/instant.ts"
import { owedUpTo } from "./catch-up.ts"
import { isEdited, planEdits } from "./edits.ts"
import { newestDue } from "./occurrence.ts"
import { planPaused } from "./pausing.ts"
import { type FireFacts, type Plan, planFrom, planOf } from "./plan.ts"
import { type OwedOptions, planOwed } from "./plan-owed.ts"
import { planOnHold, settle } from "./settling.ts"

/**
 * The runs and records that this schedule owes at `now`, and when it is next due. Pure: processes that read the same schedule
 * make the same plan, and the store accepts it from one of them.
 */
export function planFire(schedule: Schedule, facts: FireFacts, now: Instant): Plan {
  try {
    assertPlannable(schedule)
    // The schedule stays due, so the next plan fires what came due after the edits.
    if (isEdited(schedule)) return planEdits(schedule, facts)
    if (!schedule.enabled) return planOf(schedule, { nextRunAt: null })
    if (schedule.coveredUntil === null) return planOf(schedule, planFrom(schedule, now))
    if (schedule.paused !== null) return planPaused(schedule, facts, now)
    const owed = owedUpTo(newestDue(schedule, now), schedule, now, facts.recorded)
    return planOwed(schedule, facts, owed, now, { canWait: true })
  } catch (error) {
    // The row was written without our checks (by SQL, for example), or by a newer version of Belfry.
    return planOnHold(schedule, error)
  }
}

/** The plan that must be fired before an edit or an operation such as a pause. Null if nothing is owed. See `settle`. */
export function planSettle(
  schedule: Schedule,
  facts: FireFacts,
  now: Instant,
  options: OwedOptions = { canWait: false },
): Plan | null {
  return isEdited(schedule) ? planFire(schedule, facts, now) : settle(schedule, facts, now, options)
}
