import { gapsIn } from "./catch-up.ts"
import { formatInstant, type Instant } from "./instant.ts"
import { skipRecordOf } from "./new-run.ts"
import { nextByOperator, occurrenceBefore } from "./occurrence.ts"
import { type FireFacts, type Plan, planOf, ranIn } from "./plan.ts"
import type { NewRun } from "./run.ts"
import type { OccurrenceOverride, Schedule } from "./schedule.ts"

/**
 * What an operator passed over by making a later occurrence the next one. Nothing is recorded before its time: the records come
 * with whatever step settles that time, and until then the operator may think again.
 */

/** Without the operator's word on which is the next: the timetable as it would have been. */
export function withoutNext(schedule: Schedule): Schedule {
  return { ...schedule, overrides: schedule.overrides.filter(({ isNext }) => isNext !== true) }
}

/** The records that a step needs which settles everything up to `until`. */
export function skippedByReschedule(
  schedule: Schedule,
  until: Instant,
  { recorded }: FireFacts,
): readonly NewRun[] {
  const next = nextByOperator(schedule)
  if (next === null) return []
  const range = { after: schedule.coveredUntil ?? until, until: Math.min(until, next.scheduledFor - 1) }
  return gapsIn(withoutNext(schedule), range, recorded).map((gap) =>
    skipRecordOf(schedule, gap, { reason: "operator", message: whySkipped(next) }),
  )
}

export function whySkipped({ reason, scheduledFor }: OccurrenceOverride): string {
  return reason ?? `Rescheduled to ${formatInstant(scheduledFor)}`
}

/** Settles what has been passed over so far. Null if that is nothing. */
export function settleSkipped(schedule: Schedule, facts: FireFacts, now: Instant): Plan | null {
  const next = nextByOperator(schedule)
  if (next === null) return null
  const coveredUntil = schedule.coveredUntil ?? now
  const last = occurrenceBefore(withoutNext(schedule), Math.min(now + 1, next.scheduledFor))
  if (last === null || last.scheduledFor <= coveredUntil) return null
  const until = last.scheduledFor
  return planOf(
    schedule,
    { coveredUntil: until, firedCount: schedule.firedCount + ranIn(facts, coveredUntil, until) },
    { runs: skippedByReschedule(schedule, until, facts) },
  )
}
