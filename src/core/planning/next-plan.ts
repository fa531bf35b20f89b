import { assertPlannable } from "../records/plannable-schedule.ts"
import { type Schedule, timetableOf } from "../schedule/schedule.ts"
import { nextInTimetable } from "../schedule/timetable.ts"
import { planFire } from "./fire.ts"
import { nextToRunAt } from "./occurrence.ts"
import { type FireFacts, NO_FACTS } from "./plan.ts"
import { planOnHold } from "./settling.ts"

/**
 * The schedule after its next plan, for lists and previews. So they show an edit written by SQL at once, and why a schedule
 * can't be planned, before any process has planned it. Facts matter only if there are edits.
 */
export function afterNextPlan(schedule: Schedule, facts: FireFacts = NO_FACTS): Schedule {
  const { edits, ...current } = schedule
  try {
    assertPlannable(schedule)
    // Throws if the timetable can't be read, even if `nextRunAt` is set.
    nextInTimetable(timetableOf(schedule), schedule.coveredUntil ?? schedule.createdAt)
    if (edits === undefined) return { ...current, nextRunAt: nextToRunAt(current) }
    // A row inserted by SQL has an empty list of edits. At `coveredUntil` nothing is due, so the plan only finds the next time.
    const { progress } = planFire(schedule, facts, schedule.coveredUntil ?? schedule.createdAt)
    if (progress === null) return { ...current, nextRunAt: null, finishedAt: current.updatedAt }
    const planned = { ...current, ...progress }
    return { ...planned, nextRunAt: nextToRunAt(planned) }
  } catch (error) {
    return { ...current, ...planOnHold(current, error).progress }
  }
}
