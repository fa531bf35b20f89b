import type { Instant } from "./instant.ts"
import {
  countOccurrences,
  type Occurrence,
  occurrenceAfter,
  occurrenceAt,
  occurrenceBefore,
} from "./occurrence.ts"
import type { Recorded } from "./plan.ts"
import { CATCH_UP_LIMIT_MAX } from "./policies.ts"
import type { Missed } from "./run.ts"
import type { Schedule } from "./schedule.ts"

/** The occurrences a schedule owes, sorted by what becomes of them. Those that have a record already are left out. */
export interface CatchUpDecision {
  /** To be run, oldest first. */
  readonly kept: readonly Occurrence[]
  /** Left out by an operator, one by one. */
  readonly left: readonly Occurrence[]
  /** All older ones, as ranges, oldest first: one, unless some in between have a record. */
  readonly rest: readonly Missed[]
  readonly coveredUntil: Instant
  isLate(occurrence: Occurrence): boolean
}

/** StatisticsBuffer stops here, so that a month of missed seconds costs milliseconds. */
export const MISSED_COUNT_MAX = 10_000

/** Walks back from the newest owed occurrence and keeps as many as the policy allows; what lies before is the rest. */
export function owedUpTo(
  newest: Occurrence | null,
  schedule: Schedule,
  now: Instant,
  recorded: readonly Recorded[] = [],
): CatchUpDecision {
  const { policy, graceMs, windowMs, limit } = schedule.catchUp
  const coveredUntil = schedule.coveredUntil ?? now
  // A higher limit was written without our checks: since 1970 it could keep a thousand million.
  const wanted = policy === "all" ? Math.min(limit, CATCH_UP_LIMIT_MAX) : 1
  const earliest =
    policy === "once" ? Number.NEGATIVE_INFINITY : now - (policy === "all" ? windowMs : graceMs)
  const recordOf = lookBackIn(recorded)

  const kept: Occurrence[] = []
  const left: Occurrence[] = []
  let found = 0
  let occurrence = newest
  while (occurrence !== null && occurrence.scheduledFor > coveredUntil) {
    const record = recordOf(occurrence.scheduledFor)
    const isRecorded = record !== null
    if (!isRecorded && (found >= wanted || occurrence.dueAt < earliest)) break
    if (!isRecorded && occurrence.isSkipped) left.unshift(occurrence)
    else if (!isRecorded) kept.unshift(occurrence)
    // A newer run that is there already is as good as one that is made now: older ones are folded into it.
    if (!occurrence.isSkipped && (!isRecorded || policy !== "all")) found++
    // What a range records is passed over at once: from 1970 to now it may stand for a thousand million occurrences.
    const isPassed = isRecorded && !occurrence.isSkipped
    occurrence = occurrenceBefore(schedule, isPassed ? record.from : occurrence.scheduledFor)
  }

  const until = occurrence?.scheduledFor ?? coveredUntil
  const older = leftOutIn(schedule, { after: coveredUntil, until }, recorded)
  const told = [...recorded, ...older.map(({ scheduledFor }) => leftOutAt(scheduledFor))].sort(byBeginning)
  const rest = until > coveredUntil ? gapsIn(schedule, { after: coveredUntil, until }, told) : []
  const fired = farEnough(kept, recorded, schedule.spacingMs)
  return {
    kept: fired,
    left: [...older, ...left],
    rest,
    coveredUntil: newest === null ? coveredUntil : coveredBy(newest, fired, recorded, schedule.spacingMs),
    isLate: ({ dueAt }) => now - dueAt > graceMs || (policy === "once" && rest.length > 0),
  }
}

/** What an operator left out among the occurrences in (after, until] that have no record: each stays with the operator's word. */
function leftOutIn(
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

function leftOutAt(at: Instant): Recorded {
  return { from: at, until: at, isRun: false }
}

function byBeginning(a: Recorded, b: Recorded): number {
  return a.from - b.from
}

/** Made up for or not, an occurrence too close after one that is fired doesn't count. Expects the oldest first. */
function farEnough(
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

/** All up to the newest, and what is too close after the last that was fired. Expects the oldest first. */
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
  // One that comes exactly the spacing later isn't too close.
  return Math.max(until, Math.max(firedBefore, fired) + spacingMs - 1)
}

/** The record of an instant, or null, for a caller who asks about ever earlier ones. */
function lookBackIn(recorded: readonly Recorded[]): (at: Instant) => Recorded | null {
  let index = recorded.length - 1
  return (at) => {
    while (index >= 0 && recorded[index]!.from > at) index--
    const record = recorded[index]
    return record !== undefined && record.until >= at ? record : null
  }
}

/** How many gaps are told apart. Older ones are one range around what is recorded there, which it doesn't count. */
const GAPS_MAX = 100

/** The occurrences in (after, until] that have no record, as ranges, oldest first. */
export function gapsIn(
  schedule: Schedule,
  { after, until }: { after: Instant; until: Instant },
  recorded: readonly Recorded[] = [],
): readonly Missed[] {
  const within = recorded.filter((each) => each.until > after && each.from <= until)
  const older = within.slice(0, -GAPS_MAX)
  const apart = within.slice(-GAPS_MAX)
  // What comes too close after a run is no occurrence.
  const starts = [
    after,
    ...apart.map(({ until, isRun }) => (isRun ? until + Math.max(0, schedule.spacingMs - 1) : until)),
  ]
  const ends = [...apart.map((each) => each.from - 1), until]
  return starts
    .map((start, index) => rangeWithin(schedule, start, ends[index]!, index === 0 ? older : []))
    .filter((gap) => gap !== null)
}

/** The occurrences in (after, until] but for those recorded, as one record; null if there is none. */
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

/** Several ranges as what a run is told it stands for; null if there are none. */
export function foldedIn(ranges: readonly Missed[]): Missed | null {
  const last = ranges.at(-1)
  if (last === undefined) return null
  const count = ranges.reduce((total, range) => total + range.count, 0)
  return { from: ranges[0]!.from, until: last.until, count: Math.min(count, MISSED_COUNT_MAX) }
}
