import type { Missed } from "../run/run.ts"
import { isSpent, type NewSchedule, type OccurrenceOverride, timetableOf } from "../schedule/schedule.ts"
import { countInTimetable, nextInTimetable, previousInTimetable } from "../schedule/timetable.ts"
import { formatInstant, type Instant } from "../time/instant.ts"
import { hashText } from "../values/hash.ts"

// None of these functions reads a field that the store keeps, so they also take a schedule that isn't stored yet.

/** One nominal instant of a schedule, with jitter and an operator's override applied. */
export interface Occurrence {
  readonly scheduledFor: Instant
  /** When it may fire: the nominal instant plus jitter, or the time it was moved to. */
  readonly dueAt: Instant
  readonly override: OccurrenceOverride | null
  /** An operator skipped this occurrence. */
  readonly isSkipped: boolean
}

/** The id of a scheduled run. It gives each occurrence at most one run, and is the idempotency key passed to the task. */
export function runIdOf(scheduleId: string, scheduledFor: Instant): string {
  return `${scheduleId}@${formatInstant(scheduledFor)}`
}

/** The id of a record of several occurrences. It differs from every run id, so both records can be stored. */
export function rangeIdOf(scheduleId: string, { from, until }: Pick<Missed, "from" | "until">): string {
  return `${runIdOf(scheduleId, from)}..${formatInstant(until)}`
}

/** Matches the output of `formatInstant` for every year that can be scheduled. */
const OCCURRENCE_ID = /^[\w-]+@\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z/

/** Whether an id begins like a run id of an occurrence. The ids of ranges and of backfilled runs begin so too. */
export function isOccurrenceId(id: string): boolean {
  return OCCURRENCE_ID.test(id)
}

const NEVER = Number.POSITIVE_INFINITY

/** The occurrence that an operator made the next one. Occurrences between `coveredUntil` and it are passed over. */
export function nextByOperator({ overrides }: NewSchedule): OccurrenceOverride | null {
  return overrides.find(({ isNext }) => isNext === true) ?? null
}

function isPassedOver(schedule: NewSchedule, scheduledFor: Instant): boolean {
  const next = nextByOperator(schedule)
  return next !== null && scheduledFor < next.scheduledFor && scheduledFor > (schedule.coveredUntil ?? -NEVER)
}

/** The first occurrence with a nominal instant strictly after `after`. */
export function occurrenceAfter(schedule: NewSchedule, after: Instant): Occurrence | null {
  let scheduledFor = nextInTimetable(timetableOf(schedule), after) ?? NEVER
  if (isPassedOver(schedule, scheduledFor)) scheduledFor = NEVER
  for (const override of schedule.overrides) {
    if (override.scheduledFor > after) scheduledFor = Math.min(scheduledFor, override.scheduledFor)
  }
  return scheduledFor === NEVER ? null : occurrenceAt(schedule, scheduledFor)
}

/** The first occurrence after `after`. Null if the schedule has used up its `maxRuns`. */
export function upcomingAfter(schedule: NewSchedule, after: Instant): Occurrence | null {
  return isSpent(schedule) ? null : occurrenceAfter(schedule, after)
}

/**
 * When a schedule runs next. The stored `nextRunAt` is earlier if an operator skipped occurrences before, which are recorded
 * then, and during a pause with an end: it is the end of the pause.
 */
export function nextToRunAt(schedule: NewSchedule): Instant | null {
  const { nextRunAt, coveredUntil, overrides, paused } = schedule
  if (nextRunAt === null || coveredUntil === null) return nextRunAt
  if (paused !== null && paused.until !== null) {
    const dropped = passedBy(schedule, paused.until - 1)
    return nextToRun(schedule, Math.max(coveredUntil, dropped))?.dueAt ?? null
  }
  if (overrides.every(({ dueAt }) => dueAt !== null)) return nextRunAt
  const isSkipped = upcomingAfter(schedule, coveredUntil)?.isSkipped === true
  return isSkipped ? (nextToRun(schedule, coveredUntil)?.dueAt ?? null) : nextRunAt
}

/** The first occurrence after `after` that isn't skipped. */
export function nextToRun(schedule: NewSchedule, after: Instant): Occurrence | null {
  let next = upcomingAfter(schedule, after)
  while (next?.isSkipped) next = upcomingAfter(schedule, next.scheduledFor)
  return next
}

/** The last occurrence with a nominal instant strictly before `before`. */
export function occurrenceBefore(schedule: NewSchedule, before: Instant): Occurrence | null {
  const timetable = timetableOf(schedule)
  const { coveredUntil } = schedule
  let scheduledFor = previousInTimetable(timetable, before) ?? -NEVER
  if (isPassedOver(schedule, scheduledFor))
    scheduledFor =
      coveredUntil === null ? -NEVER : (previousInTimetable(timetable, coveredUntil + 1) ?? -NEVER)
  for (const override of schedule.overrides) {
    if (override.scheduledFor < before) scheduledFor = Math.max(scheduledFor, override.scheduledFor)
  }
  return scheduledFor === -NEVER ? null : occurrenceAt(schedule, scheduledFor)
}

/** The number of occurrences in (after, until], counted up to a limit. Passed-over occurrences don't count. */
export function countOccurrences(
  schedule: NewSchedule,
  after: Instant,
  until: Instant,
  limit: number,
): number {
  const timetable = timetableOf(schedule)
  const next = nextByOperator(schedule)
  const from = next === null ? after : Math.max(after, next.scheduledFor - 1)
  // Occurrences that an operator added are not in the timetable.
  const added = schedule.overrides.filter(
    ({ scheduledFor: at }) => at > after && at <= until && nextInTimetable(timetable, at - 1) !== at,
  )
  return Math.min(countInTimetable(timetable, from, until, limit) + added.length, limit)
}

/** `scheduledFor` must be an occurrence of the schedule. */
export function occurrenceAt(schedule: NewSchedule, scheduledFor: Instant): Occurrence {
  const override = schedule.overrides.find((entry) => entry.scheduledFor === scheduledFor) ?? null
  return {
    scheduledFor,
    dueAt:
      override === null ? scheduledFor + jitterOf(schedule, scheduledFor) : (override.dueAt ?? scheduledFor),
    override,
    isSkipped: override !== null && override.dueAt === null,
  }
}

/** Deterministic, and never as late as the next occurrence, so that the order can't change. */
function jitterOf(schedule: NewSchedule, scheduledFor: Instant): number {
  if (schedule.jitterMs === 0) return 0
  const next = nextInTimetable(timetableOf(schedule), scheduledFor)
  const bound = next === null ? schedule.jitterMs : Math.min(schedule.jitterMs, next - scheduledFor - 1)
  return hashText(runIdOf(schedule.id, scheduledFor)) % (bound + 1)
}

/**
 * The newest occurrence that is due and not yet settled. Occurrences are due in their nominal order (jitter and moves
 * never pass a neighbour), so all earlier ones are due as well.
 */
export function newestDue(schedule: NewSchedule, now: Instant): Occurrence | null {
  const movedEarlier = schedule.overrides.filter(({ dueAt }) => (dueAt ?? NEVER) <= now)
  const latest = Math.max(now, ...movedEarlier.map((override) => override.scheduledFor))
  let newest = occurrenceBefore(schedule, latest + 1)
  while (newest !== null && newest.dueAt > now) newest = occurrenceBefore(schedule, newest.scheduledFor)
  return unsettled(schedule, newest)
}

/** The newest unsettled occurrence with a nominal instant up to `now`. Jitter or a move may delay it beyond `now`. */
export function newestPassed(schedule: NewSchedule, now: Instant): Occurrence | null {
  return unsettled(schedule, occurrenceBefore(schedule, now + 1))
}

/** The instant up to which all occurrences have come due: `now`, or just before one that jitter or a move still delays. */
export function passedBy(schedule: NewSchedule, now: Instant): Instant {
  const newest = newestPassed(schedule, now)
  return newest !== null && newest.dueAt > now ? newest.scheduledFor - 1 : now
}

function unsettled(schedule: NewSchedule, occurrence: Occurrence | null): Occurrence | null {
  const { coveredUntil } = schedule
  if (isSpent(schedule)) return null
  return occurrence !== null && coveredUntil !== null && occurrence.scheduledFor > coveredUntil
    ? occurrence
    : null
}
