import type { Instant } from "./instant.ts"
import { type Occurrence, occurrenceAfter, occurrenceBefore } from "./occurrence.ts"
import type { Missed } from "./run.ts"
import { type Schedule, timetableOf } from "./schedule.ts"
import { countInTimetable, nextInTimetable } from "./timetable.ts"

/** The occurrences a schedule owes, sorted by what becomes of them. */
export interface CatchUpDecision {
  /** To be run, oldest first. */
  readonly kept: readonly Occurrence[]
  /** Left out by an operator, one by one. */
  readonly left: readonly Occurrence[]
  /** All older ones, as one range. */
  readonly rest: Missed | null
  readonly coveredUntil: Instant
  isLate(occurrence: Occurrence): boolean
}

/** Counting stops here, so that a month of missed seconds costs milliseconds. */
export const MISSED_COUNT_MAX = 10_000

/** Walks back from the newest owed occurrence and keeps as many as the policy allows; what lies before is one range. */
export function owedUpTo(newest: Occurrence | null, schedule: Schedule, now: Instant): CatchUpDecision {
  const { policy, graceMs, windowMs, limit } = schedule.catchUp
  const coveredUntil = schedule.coveredUntil ?? now
  const wanted = policy === "all" ? limit : 1
  const earliest =
    policy === "once" ? Number.NEGATIVE_INFINITY : now - (policy === "all" ? windowMs : graceMs)

  const kept: Occurrence[] = []
  const left: Occurrence[] = []
  let occurrence = newest
  while (occurrence !== null && occurrence.scheduledFor > coveredUntil) {
    if (kept.length >= wanted || occurrence.dueAt < earliest) break
    if (occurrence.isSkipped) left.unshift(occurrence)
    else kept.unshift(occurrence)
    occurrence = occurrenceBefore(schedule, occurrence.scheduledFor)
  }

  const rest = occurrence !== null && occurrence.scheduledFor > coveredUntil ? occurrence.scheduledFor : null
  return {
    kept,
    left,
    rest: rest === null ? null : rangeUntil(schedule, coveredUntil, rest),
    coveredUntil: newest?.scheduledFor ?? coveredUntil,
    isLate: ({ dueAt }) => now - dueAt > graceMs || (policy === "once" && rest !== null),
  }
}

/** The occurrences in (after, until] as one record; `until` is one of them. */
export function rangeUntil(schedule: Schedule, after: Instant, until: Instant): Missed {
  const timetable = timetableOf(schedule)
  // An occurrence that an operator added isn't in the timetable, but it is there.
  const added = schedule.overrides.filter(
    ({ scheduledFor: at }) => at > after && at <= until && nextInTimetable(timetable, at - 1) !== at,
  )
  const count = countInTimetable(timetable, after, until, MISSED_COUNT_MAX) + added.length
  const from = occurrenceAfter(schedule, after)?.scheduledFor ?? until
  return { from, until, count: Math.min(count, MISSED_COUNT_MAX) }
}
