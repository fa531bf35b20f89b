import type { Missed } from "../run/run.ts"
import type { Schedule } from "../schedule/schedule.ts"
import type { Instant } from "../time/instant.ts"
import {
  countOccurrences,
  type Occurrence,
  occurrenceAfter,
  occurrenceAt,
  occurrenceBefore,
} from "./occurrence.ts"
import type { Recorded } from "./plan.ts"

/** The occurrences that a schedule owes, by what the plan does with them. Occurrences with a record are not included. */
export interface CatchUpDecision {
  /** Occurrences that become runs, oldest first. */
  readonly kept: readonly Occurrence[]
  /** Occurrences that an operator skipped. Each gets its own record. */
  readonly skipped: readonly Occurrence[]
  /** All older occurrences, oldest first: one range, or several if occurrences between them have a record. */
  readonly rest: readonly Missed[]
  readonly coveredUntil: Instant
  isLate(occurrence: Occurrence): boolean
}

/** The most runs that one plan makes. */
export const CATCH_UP_LIMIT_MAX = 1_000

/** Counting stops here, so that a month of missed seconds takes milliseconds to count. */
export const MISSED_COUNT_MAX = 10_000

/** Walks back from the newest owed occurrence and keeps as many as the policy allows. All older ones are the rest. */
export function owedUpTo(
  newest: Occurrence | null,
  schedule: Schedule,
  now: Instant,
  recorded: readonly Recorded[] = [],
): CatchUpDecision {
  const { policy, graceMs, windowMs, limit } = schedule.catchUp
  const coveredUntil = schedule.coveredUntil ?? now
  // A row written by SQL may have a higher limit. Since 1970 it could keep a thousand million occurrences.
  const wanted = policy === "all" ? Math.min(limit, CATCH_UP_LIMIT_MAX) : 1
  const earliest =
    policy === "once" ? Number.NEGATIVE_INFINITY : now - (policy === "all" ? windowMs : graceMs)
  const recordOf = recordLookup(recorded)

  const kept: Occurrence[] = []
  const skipped: Occurrence[] = []
  let found = 0
  let occurrence = newest
  while (occurrence !== null && occurrence.scheduledFor > coveredUntil) {
    const record = recordOf(occurrence.scheduledFor)
    const isRecorded = record !== null
    if (!isRecorded && (found >= wanted || occurrence.dueAt < earliest)) break
    if (!isRecorded && occurrence.isSkipped) skipped.unshift(occurrence)
    else if (!isRecorded) kept.unshift(occurrence)
    // A run that exists counts like one that this plan makes: with `once`, older occurrences are folded into it.
    if (!occurrence.isSkipped && (!isRecorded || policy !== "all")) found++
    // A recorded range is passed in one step: from 1970 to now it may stand for a thousand million occurrences.
    const isPassed = isRecorded && !occurrence.isSkipped
    occurrence = occurrenceBefore(schedule, isPassed ? record.from : occurrence.scheduledFor)
  }

  const until = occurrence?.scheduledFor ?? coveredUntil
  const older = skippedIn(schedule, { after: coveredUntil, until }, recorded)
  const accounted = [...recorded, ...older.map(({ scheduledFor }) => skipAt(scheduledFor))].sort(byStart)
  const rest = until > coveredUntil ? gapsIn(schedule, { after: coveredUntil, until }, accounted) : []
  const fired = spacedApart(kept, recorded, schedule.spacingMs)
  return {
    kept: fired,
    skipped: [...older, ...skipped],
    rest,
    coveredUntil: newest === null ? coveredUntil : coveredBy(newest, fired, recorded, schedule.spacingMs),
    isLate: ({ dueAt }) => now - dueAt > graceMs || (policy === "once" && rest.length > 0),
  }
}

/** Occurrences in (after, until] that an operator skipped and that have no record. Each keeps the operator's reason. */
function skippedIn(
  schedule: Schedule,
  { after, until }: { after: Instant; until: Instant },
  recorded: readonly Recorded[],
): readonly Occurrence[] {
  const isRecorded = (at: Instant) => recorded.some((each) => each.from <= at && at <= each.until)
  return schedule.overrides
    .filter(({ dueAt, scheduledFor: at }) => dueAt === null && at > after && at <= until && !isRecorded(at))
    .map(({ scheduledFor }) => occurrenceAt(schedule, scheduledFor))
    .sort((a, b) => a.scheduledFor - b.scheduledFor)
}

function skipAt(at: Instant): Recorded {
  return { from: at, until: at, isRun: false }
}

function byStart(a: Recorded, b: Recorded): number {
  return a.from - b.from
}

/** Removes occurrences closer than the spacing to a fired one, even among catch-up runs. Expects the oldest first. */
function spacedApart(
  occurrences: readonly Occurrence[],
  recorded: readonly Recorded[],
  spacingMs: number,
): readonly Occurrence[] {
  if (spacingMs === 0) return occurrences
  const firedBefore = recorded.filter(({ isRun }) => isRun).map(({ from }) => from)
  let firedAt = Number.NEGATIVE_INFINITY
  return occurrences.filter(({ scheduledFor }) => {
    while ((firedBefore[0] ?? scheduledFor) < scheduledFor) firedAt = Math.max(firedAt, firedBefore.shift()!)
    const counts = scheduledFor >= firedAt + spacingMs
    if (counts) firedAt = scheduledFor
    return counts
  })
}

/** Everything up to the newest is settled, and what the spacing excludes after the last fired one. Expects the oldest first. */
function coveredBy(
  newest: Occurrence,
  kept: readonly Occurrence[],
  recorded: readonly Recorded[],
  spacingMs: number,
): Instant {
  const until = newest.scheduledFor
  const firedBefore =
    recorded.findLast(({ isRun, from }) => isRun && from <= until)?.from ?? Number.NEGATIVE_INFINITY
  const fired = kept.at(-1)?.scheduledFor ?? Number.NEGATIVE_INFINITY
  // An occurrence exactly the spacing later counts.
  return Math.max(until, Math.max(firedBefore, fired) + spacingMs - 1)
}

/** A function that finds the record of an instant, or null. Each call must ask for an earlier instant than the last. */
function recordLookup(recorded: readonly Recorded[]): (at: Instant) => Recorded | null {
  let index = recorded.length - 1
  return (at) => {
    while (index >= 0 && recorded[index]!.from > at) index--
    const record = recorded[index]
    return record !== undefined && record.until >= at ? record : null
  }
}

/** How many gaps get their own range. Older gaps are one range; its count leaves out the records inside it. */
const GAPS_MAX = 100

/** The occurrences in (after, until] that have no record, as ranges, oldest first. */
export function gapsIn(
  schedule: Schedule,
  { after, until }: { after: Instant; until: Instant },
  recorded: readonly Recorded[] = [],
): readonly Missed[] {
  const within = recorded.filter((each) => each.until > after && each.from <= until)
  const older = within.slice(0, -GAPS_MAX)
  const newer = within.slice(-GAPS_MAX)
  // Within the spacing after a run there are no occurrences.
  const starts = [
    after,
    ...newer.map(({ until, isRun }) => (isRun ? until + Math.max(0, schedule.spacingMs - 1) : until)),
  ]
  const ends = [...newer.map((each) => each.from - 1), until]
  return starts
    .map((start, index) => rangeWithin(schedule, start, ends[index]!, index === 0 ? older : []))
    .filter((gap) => gap !== null)
}

/** The occurrences in (after, until] without a record, as one range. Null if there are none. */
function rangeWithin(
  schedule: Schedule,
  after: Instant,
  until: Instant,
  recorded: readonly Recorded[],
): Missed | null {
  const last = occurrenceBefore(schedule, until + 1)?.scheduledFor ?? after
  const counted = recorded.reduce(
    (total, each) => total - countIn(schedule, Math.max(after, each.from - 1), each.until),
    countIn(schedule, after, last),
  )
  if (counted <= 0) return null
  return { from: occurrenceAfter(schedule, after)!.scheduledFor, until: last, count: counted }
}

function countIn(schedule: Schedule, after: Instant, until: Instant): number {
  return countOccurrences(schedule, after, until, MISSED_COUNT_MAX)
}

/** Several ranges as the one range that a run stands for. Null if there are none. */
export function mergedRange(ranges: readonly Missed[]): Missed | null {
  const last = ranges.at(-1)
  if (last === undefined) return null
  const count = ranges.reduce((total, range) => total + range.count, 0)
  return { from: ranges[0]!.from, until: last.until, count: Math.min(count, MISSED_COUNT_MAX) }
}
