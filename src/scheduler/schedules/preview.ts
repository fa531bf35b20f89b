import { BelfryError } from "../../core/errors.ts"
import { afterNextPlan } from "../../core/planning/next-plan.ts"
import { passedBy, upcomingAfter } from "../../core/planning/occurrence.ts"
import type { Schedule } from "../../core/schedule/schedule.ts"
import { formatInstant, type Instant } from "../../core/time/instant.ts"

export interface OccurrenceView {
  readonly scheduledFor: Date
  /** Includes jitter, or the time the occurrence was moved to. */
  readonly dueAt: Date
  readonly isSkipped: boolean
}

/** Passing over more occurrences would block the event loop for too long. */
const PASSED_OVER_MAX = 100_000

/**
 * The next occurrences, computed by the functions that fire them. With `after`, the occurrences after that time. Occurrences
 * passed on the way count toward `maxRuns`, so a limited schedule may have none left.
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

/** True if an occurrence doesn't depend on earlier ones. Then the search can start at `after` directly. */
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

/** Occurrences up to this instant are settled, past, or dropped by a pause with an end. */
function settledBy(schedule: Schedule, now: Instant): Instant {
  const past = passedBy(schedule, now)
  const until = schedule.paused?.until ?? null
  return Math.max(past, schedule.coveredUntil ?? now, until === null ? past : passedBy(schedule, until - 1))
}
