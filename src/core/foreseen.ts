import { isEdited, planEdits } from "./edits.ts"
import { planFire } from "./fire.ts"
import { nextToRunAt } from "./occurrence.ts"
import { type FirePlan, NO_FACTS } from "./plan.ts"
import { assertReadable } from "./readable.ts"
import type { Schedule } from "./schedule.ts"
import { planOnHold } from "./settling.ts"

/**
 * A schedule as its next plan will leave it, but for what that fires: what lists and previews show. So an edit that was written past
 * our door is seen at once, and what can't be planned says why, before any process has looked.
 */
export function foreseen(schedule: Schedule): Schedule {
  const { edits, ...current } = schedule
  try {
    assertReadable(schedule)
    if (edits === undefined)
      return current.lastError === null ? { ...current, nextRunAt: nextToRunAt(current) } : current
    const { progress } = planOfEdits(schedule)
    if (progress === null) return { ...current, nextRunAt: null, finishedAt: current.updatedAt }
    const planned = { ...current, ...progress }
    return { ...planned, nextRunAt: nextToRunAt(planned) }
  } catch (error) {
    return { ...current, ...planOnHold(current, error).progress }
  }
}

/** A row that was inserted has none: it was planned up to that instant, and nothing is due then. */
function planOfEdits(schedule: Schedule): FirePlan {
  if (isEdited(schedule)) return planEdits(schedule, NO_FACTS)
  return planFire(schedule, NO_FACTS, schedule.coveredUntil ?? schedule.createdAt)
}
