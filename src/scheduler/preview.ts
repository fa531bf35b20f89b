import type { Instant } from "../core/instant.ts"
import { newestPassed, upcomingAfter } from "../core/occurrence.ts"
import type { Schedule } from "../core/schedule.ts"

export interface OccurrenceView {
  readonly scheduledFor: Date
  /** With jitter, or where it was moved to. */
  readonly dueAt: Date
  readonly isSkipped: boolean
}

/**
 * The next occurrences, by the same functions that fire them. Counts the runs it shows as if they had been: the schedule
 * may be spent by then.
 */
export function upcoming(schedule: Schedule, now: Instant, count: number): readonly OccurrenceView[] {
  const found: OccurrenceView[] = []
  let { runCount } = schedule
  let occurrence = upcomingAfter(schedule, settledBy(schedule, now))
  while (occurrence !== null && found.length < count) {
    const { scheduledFor, dueAt, isSkipped } = occurrence
    found.push({ scheduledFor: new Date(scheduledFor), dueAt: new Date(dueAt), isSkipped })
    if (!isSkipped) runCount++
    occurrence = upcomingAfter({ ...schedule, runCount }, scheduledFor + (isSkipped ? 0 : schedule.spacingMs))
  }
  return found
}

/** What lies before is no longer to come: settled, past, or dropped by a pause with an end. */
function settledBy(schedule: Schedule, now: Instant): Instant {
  const passed = newestPassed(schedule, now)
  // Jitter or a move may hold back one whose nominal instant is past.
  const isHeldBack = passed !== null && passed.dueAt > now
  const past = isHeldBack ? passed.scheduledFor - 1 : now
  const paused = schedule.paused?.until ?? null
  return Math.max(past, schedule.coveredUntil ?? now, paused === null ? past : paused - 1)
}
