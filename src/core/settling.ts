import { owedUpTo } from "./catch-up.ts"
import type { Instant } from "./instant.ts"
import { newestPassed } from "./occurrence.ts"
import { settlePause } from "./pausing.ts"
import { type FireFacts, type Plan, planOf } from "./plan.ts"
import { type OwedOptions, planOwed } from "./plan-owed.ts"
import { assertReadable } from "./readable.ts"
import type { Schedule } from "./schedule.ts"
import { settleSkipped } from "./skipped-by-reschedule.ts"
import { storable } from "./thrown.ts"

/**
 * Before an edit: whatever already had its time becomes a run now, even if jitter or a move still holds it back (it then
 * waits as a run). Otherwise the edit would take away an occurrence that was promised. What a pause has dropped so far is
 * recorded by the old timetable. What can wait for room in its queue stays owed. Null if there is nothing to fire or record.
 */
export function settle(
  schedule: Schedule,
  facts: FireFacts,
  now: Instant,
  { canWait }: OwedOptions,
): Plan | null {
  if (!schedule.enabled || schedule.lastError !== null) return null
  try {
    assertReadable(schedule)
    if (schedule.paused !== null) return settlePause(schedule, facts, now)
    const newest = newestPassed(schedule, now)
    if (newest === null) return canWait ? null : settleSkipped(schedule, facts, now)
    const owed = owedUpTo(newest, schedule, now, facts.recorded)
    const plan = planOwed(schedule, facts, owed, now, { canWait })
    return canWait && plan.runs.length === 0 ? null : plan
  } catch (error) {
    // The edit may be what mends it.
    return planOnHold(schedule, error)
  }
}

/** Whatever is wrong is shown on the schedule, which waits for somebody to mend it, and the others go on. */
export function planOnHold(schedule: Schedule, error: unknown): Plan {
  const lastError = error instanceof Error ? error.message : String(error)
  return planOf(schedule, { nextRunAt: null, lastError: storable(lastError, LAST_ERROR_MAX_BYTES) })
}

const LAST_ERROR_MAX_BYTES = 2_000
