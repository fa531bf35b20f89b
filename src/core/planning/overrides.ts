import { type NewSchedule, type OccurrenceOverride, timetableOf } from "../schedule/schedule.ts"
import { nextInTimetable } from "../schedule/timetable.ts"
import type { Instant } from "../time/instant.ts"
import { occurrenceAfter, occurrenceBefore } from "./occurrence.ts"

/** Whether an occurrence is due between its neighbours. Every plan relies on it. Skipped ones count at their nominal time. */
export function isInOrder(schedule: NewSchedule, scheduledFor: Instant, coveredUntil: Instant): boolean {
  const own = occurrenceAfter(schedule, scheduledFor - 1)!
  const before = occurrenceBefore(schedule, scheduledFor)
  const after = occurrenceAfter(schedule, scheduledFor)
  const earlier = before !== null && before.scheduledFor > coveredUntil ? before.dueAt : null
  const later = after === null ? null : after.dueAt
  return (earlier === null || earlier < own.dueAt) && (later === null || own.dueAt < later)
}

/** The overrides that stay valid under a new timetable: it has the same occurrence, and the order is kept. */
export function overridesKept(edited: NewSchedule, now: Instant): readonly OccurrenceOverride[] {
  const timetable = timetableOf(edited)
  const kept: OccurrenceOverride[] = []
  for (const override of edited.overrides) {
    const { scheduledFor, isNext } = override
    if (isNext === true || nextInTimetable(timetable, scheduledFor - 1) !== scheduledFor) continue
    if (isInOrder({ ...edited, overrides: [...kept, override] }, scheduledFor, now)) kept.push(override)
  }
  return kept
}
