import { BelfryError } from "../../core/errors.ts"
import { formatInstant, type Instant } from "../../core/instant.ts"
import { afterNextPlan } from "../../core/next-plan.ts"
import { passedBy, upcomingAfter } from "../../core/occurrence.ts"
import type { Schedule } from "../../core/schedule.ts"

export interface OccurrenceView {
  readonly scheduledFor: Date
  /** With jitter, or where it was moved to. */
  readonly dueAt: Date
  readonly isSkipped: boolean
}

/** More would keep the process from everything else for too long. */
const PASSED_OVER_MAX = 100_000

/**
 * The next occurrences, by the same functions that fire them; with `after`, those after it. Counts the runs on the way as if
 * they had been: the schedule may be spent by then.
 */
export function upcoming(
  stored: Schedule,
  now: Instant,
  { count, after }: { count: number; after: Instant | null },
): readonly OccurrenceView[] {
  const schedule = afterNextPlan(stored)
  const found: OccurrenceView[] = []
  const from = settledBy(schedule, now)
  let { firedCount } = schedule
  let occurrence = upcomingAfter(schedule, isIndependent(schedule) ? Math.max(from, after ?? from) : from)
  for (let seen = 0; occurrence !== null && found.length < count; seen++) {
    const { scheduledFor, dueAt, isSkipped } = occurrence
    if (after === null || scheduledFor > after)
      found.push({ scheduledFor: new Date(scheduledFor), dueAt: new Date(dueAt), isSkipped })
    else if (seen >= PASSED_OVER_MAX) throw tooFar(schedule, after)
    if (!isSkipped) firedCount++
    const spacedUntil = isSkipped ? scheduledFor : scheduledFor + schedule.spacingMs - 1
    occurrence = upcomingAfter({ ...schedule, firedCount }, Math.max(scheduledFor, spacedUntil))
  }
  return found
}

/** Which occurrences come doesn't depend on those before: those can be passed over at once. */
function isIndependent({ maxRuns, spacingMs }: Schedule): boolean {
  return maxRuns === null && spacingMs === 0
}

function tooFar({ id }: Schedule, after: Instant): BelfryError {
  return new BelfryError(
    "BELFRY_SCHEDULE_INVALID",
    `schedules.preview: after is ${formatInstant(after)}; "${id}" has more than ${PASSED_OVER_MAX} occurrences until then. Use an earlier time.`,
    { details: { id, option: "after" } },
  )
}

/** What lies before is no longer to come: settled, past, or dropped by a pause with an end. */
function settledBy(schedule: Schedule, now: Instant): Instant {
  const past = passedBy(schedule, now)
  const until = schedule.paused?.until ?? null
  return Math.max(past, schedule.coveredUntil ?? now, until === null ? past : passedBy(schedule, until - 1))
}
