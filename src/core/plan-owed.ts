import { type CatchUpDecision, foldedIn } from "./catch-up.ts"
import { formatDuration } from "./duration.ts"
import { type Instant, SECOND } from "./instant.ts"
import { newRunOf, skipRecordOf } from "./new-run.ts"
import { type Occurrence, occurrenceAfter, occurrenceBefore, runIdOf } from "./occurrence.ts"
import { type FireFacts, type Plan, planOf, ranIn, UNFINISHED_FACTS_MAX, withoutFinished } from "./plan.ts"
import { cancel, type NewRun, type RunChange } from "./run.ts"
import { isSpent, type Schedule } from "./schedule.ts"
import { skippedByReschedule } from "./skipped-by-reschedule.ts"

export interface OwedOptions {
  /**
   * Whether late occurrences may stay owed until their queue has room. Otherwise they are recorded: this is the last time that
   * anybody looks at them.
   */
  readonly canWait: boolean
}

/** The runs and records of what a schedule owes, and its progress after them. */
export function planOwed(
  schedule: Schedule,
  facts: FireFacts,
  owed: CatchUpDecision,
  now: Instant,
  { canWait }: OwedOptions = { canWait: false },
): Plan {
  const runs: NewRun[] = []
  const refused: NewRun[] = []
  const cancels: RunChange[] = []
  let waiting: Occurrence | null = null
  const ran = ranIn(facts, schedule.coveredUntil, owed.coveredUntil)
  for (const occurrence of owed.kept) {
    if (isSpent({ maxRuns: schedule.maxRuns, firedCount: schedule.firedCount + ran + runs.length })) {
      // What the timetable still has after the last run is no occurrence of this schedule any more.
      if (ranIn(facts, occurrence.scheduledFor, owed.coveredUntil) === 0) break
      const message = `A later occurrence was the last of its ${schedule.maxRuns} runs`
      refused.push(skipRecordOf(schedule, single(occurrence), { reason: "missed", message }))
      continue
    }
    const obstacle = isUnfinished(occurrence, schedule, facts) ? null : obstacleTo(schedule, facts, runs, now)
    // One that comes in time and finds its queue full is left out; one of several is behind, and stays owed.
    const isBehind = owed.kept.length > 1 || owed.isLate(occurrence)
    const isOwedAll = canWait && schedule.catchUp.policy === "all" && isBehind
    if (obstacle?.reason === "capacity" && isOwedAll) {
      waiting = occurrence
      break
    }
    if (obstacle !== null) {
      refused.push(skipRecordOf(schedule, single(occurrence), obstacle))
      continue
    }
    if (schedule.overlap.policy === "replace") cancels.push(...replacedBy(schedule, facts))
    runs.push(
      newRunOf(schedule, occurrence, { isLate: owed.isLate(occurrence), missed: missedBy(schedule, owed) }),
    )
  }
  const records = [...recordsOf(schedule, owed, waiting), ...refused]
  return advance(schedule, facts, { owed, runs, records, cancels, waiting, now })
}

/** Of those that an operator left out, and of those that are not made up for; later than `waiting` nothing is settled yet. */
function recordsOf(schedule: Schedule, owed: CatchUpDecision, waiting: Occurrence | null): readonly NewRun[] {
  const left = owed.left
    .filter(({ scheduledFor }) => waiting === null || scheduledFor < waiting.scheduledFor)
    .map((occurrence) =>
      skipRecordOf(schedule, single(occurrence), {
        reason: "operator",
        message: occurrence.override!.reason,
      }),
    )
  const why = restReason(schedule)
  return [...left, ...owed.rest.map((range) => skipRecordOf(schedule, range, why))]
}

function single(occurrence: Occurrence) {
  return { from: occurrence.scheduledFor, until: occurrence.scheduledFor, count: 1 }
}

/** Only a run that stands in for others is told of them. */
function missedBy(schedule: Schedule, owed: CatchUpDecision) {
  return schedule.catchUp.policy === "once" ? foldedIn(owed.rest) : null
}

/** With "once", the rest ends before an occurrence that runs, or has run. */
function restReason(schedule: Schedule) {
  if (schedule.catchUp.policy === "once") {
    return { reason: "coalesced", message: "Folded into a newer occurrence" } as const
  }
  return { reason: "missed", message: "No process fired it in time" } as const
}

/** It was fired from memory, and its run is there: no obstacle keeps it from having run. */
function isUnfinished({ scheduledFor }: Occurrence, { id }: Schedule, { unfinished }: FireFacts): boolean {
  return unfinished.some((run) => run.id === runIdOf(id, scheduledFor))
}

/** Why an occurrence can't become a run now, or null. `added` are the runs this plan creates already. */
function obstacleTo(schedule: Schedule, facts: FireFacts, added: readonly NewRun[], now: Instant) {
  for (const { scheduleId, withinMs } of schedule.dependsOn) {
    const lastSuccessAt = facts.lastSuccessAt[scheduleId] ?? null
    if (lastSuccessAt === null || lastSuccessAt < now - withinMs) {
      const message = `${scheduleId} has not succeeded in the last ${formatDuration(withinMs)}`
      return { reason: "dependency", message } as const
    }
  }
  const unfinished = facts.unfinished.length + added.length
  const oldest = facts.unfinished[0] ?? added[0]
  if (schedule.overlap.policy === "skip" && oldest !== undefined) {
    return { reason: "overlap", message: `Still unfinished: ${oldest.id}` } as const
  }
  if (schedule.overlap.policy === "queue" && isQueueFull(schedule, unfinished)) {
    return {
      reason: "capacity",
      message: `${unfinished} runs are unfinished and ${schedule.overlap.limit} may wait`,
    } as const
  }
  return null
}

/** Whether no run more may wait, where so many are unfinished. */
export function isQueueFull({ overlap, maxConcurrentRuns }: Schedule, unfinished: number): boolean {
  const performable = maxConcurrentRuns ?? 1
  // Nobody sees more than that many: there a queue is full, whatever its limit.
  return unfinished >= Math.min(performable + overlap.limit, UNFINISHED_FACTS_MAX)
}

function replacedBy(schedule: Schedule, facts: FireFacts): readonly RunChange[] {
  const why = { reason: "Replaced by the next occurrence", by: `schedule:${schedule.id}` }
  return facts.unfinished.map((run) => cancel(run, why)).filter((change) => change !== null)
}

/**
 * How soon a schedule looks again for room in its queue. Each look makes at least two runs of a queue that is idle, and no
 * timetable has more than one occurrence a second: so it catches up.
 */
const ROOM_LOOK_MS = SECOND

interface Made {
  readonly owed: CatchUpDecision
  readonly runs: readonly NewRun[]
  readonly records: readonly NewRun[]
  readonly cancels: readonly RunChange[]
  /** The first one that stays owed until its queue has room; null if all are settled. */
  readonly waiting: Occurrence | null
  readonly now: Instant
}

function advance(
  schedule: Schedule,
  facts: FireFacts,
  { owed, runs, records, cancels, waiting, now }: Made,
): Plan {
  const coveredUntil = waiting === null ? owed.coveredUntil : coveredBefore(schedule, waiting)
  const firedCount = schedule.firedCount + ranIn(facts, schedule.coveredUntil, coveredUntil) + runs.length
  const isLast = isSpent({ maxRuns: schedule.maxRuns, firedCount })
  const next = isLast ? null : occurrenceAfter(schedule, coveredUntil)
  const plan = planOf(
    schedule,
    {
      coveredUntil,
      nextRunAt: waiting === null ? (next?.dueAt ?? null) : now + ROOM_LOOK_MS,
      finishedAt: next === null ? (schedule.finishedAt ?? now) : null,
      overrides: schedule.overrides.filter((override) => override.scheduledFor > coveredUntil),
      firedCount,
      lastError: null,
    },
    { runs: [...skippedByReschedule(schedule, coveredUntil, facts), ...records, ...runs], cancels },
  )
  return withoutFinished(schedule, plan)
}

function coveredBefore(schedule: Schedule, waiting: Occurrence): Instant {
  const before = occurrenceBefore(schedule, waiting.scheduledFor)
  return Math.max(schedule.coveredUntil!, before?.scheduledFor ?? schedule.coveredUntil!)
}
