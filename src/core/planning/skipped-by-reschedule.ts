import type { NewRun } from "../run/run.ts"
import type { OccurrenceOverride, Schedule } from "../schedule/schedule.ts"
import { formatInstant, type Instant } from "../time/instant.ts"
import { gapsIn } from "./catch-up.ts"
import { skipRecordOf } from "./new-run.ts"
import { nextByOperator, occurrenceBefore } from "./occurrence.ts"
import { type FireFacts, type Plan, planOf, ranIn } from "./plan.ts"

/**
 * The occurrences that an operator passed over by making a later one the next. Nothing is recorded before its time: the step
 * that settles that time makes the records, and until then the operator can undo the change.
 */

/** The schedule without the override that is next: its timetable as it would have been. */
export function withoutNext(schedule: Schedule): Schedule {
  return { ...schedule, overrides: schedule.overrides.filter(({ isNext }) => isNext !== true) }
}

/** The records for a step that settles everything up to `until`. */
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

/** Settles the occurrences passed over so far. Null if there are none. */
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
