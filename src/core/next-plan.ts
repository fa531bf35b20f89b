import { planFire } from "./fire.ts"
import { nextToRunAt } from "./occurrence.ts"
import { type FireFacts, NO_FACTS } from "./plan.ts"
import { assertReadable } from "./readable.ts"
import { type Schedule, timetableOf } from "./schedule.ts"
import { planOnHold } from "./settling.ts"
import { nextInTimetable } from "./timetable.ts"

/**
 * A schedule as its next plan will leave it: what lists and previews show. So an edit that was written without our checks is seen at
 * once, and what can't be planned says why, before any process has looked. Facts matter only where there are edits.
 */
export function afterNextPlan(schedule: Schedule, facts: FireFacts = NO_FACTS): Schedule {
  const { edits, ...current } = schedule
  try {
    assertReadable(schedule)
    // Throws where its timetable can't be read, whatever it is next due.
    nextInTimetable(timetableOf(schedule), schedule.coveredUntil ?? schedule.createdAt)
    if (edits === undefined) return { ...current, nextRunAt: nextToRunAt(current) }
    // An inserted row has no edits, and is planned as it is: at `coveredUntil` nothing is due, and its first occurrence is found.
    const { progress } = planFire(schedule, facts, schedule.coveredUntil ?? schedule.createdAt)
    if (progress === null) return { ...current, nextRunAt: null, finishedAt: current.updatedAt }
    const planned = { ...current, ...progress }
    return { ...planned, nextRunAt: nextToRunAt(planned) }
  } catch (error) {
    return { ...current, ...planOnHold(current, error).progress }
  }
}
