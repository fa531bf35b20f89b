import { cancel, type NewRun, type RunChange } from "../run/run.ts"
import { isSpent, type Schedule } from "../schedule/schedule.ts"
import { formatDuration } from "../time/duration.ts"
import { type Instant, LATEST, SECOND } from "../time/instant.ts"
import { type CatchUpDecision, mergedRange } from "./catch-up.ts"
import { newRunOf, skipRecordOf } from "./new-run.ts"
import { type Occurrence, occurrenceAfter, occurrenceBefore, runIdOf } from "./occurrence.ts"
import { type FireFacts, type Plan, planOf, ranIn, UNFINISHED_FACTS_MAX, withoutFinished } from "./plan.ts"
import { skippedByReschedule } from "./skipped-by-reschedule.ts"

export interface OwedOptions {
  /**
   * Whether late occurrences may stay owed until their queue has room. If false they are recorded as skipped, because no later
   * plan will include them.
   */
  readonly canWait: boolean
}

/** The runs and records of the occurrences that a schedule owes, and its progress after them. */
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
      // After the last of `maxRuns` runs the schedule has no more occurrences, even if the timetable goes on.
      if (ranIn(facts, occurrence.scheduledFor, owed.coveredUntil) === 0) break
      const message = `A later occurrence was the last of its ${schedule.maxRuns} runs`
      refused.push(skipRecordOf(schedule, single(occurrence), { reason: "missed", message }))
      continue
    }
    const obstacle = isUnfinished(occurrence, schedule, facts) ? null : obstacleTo(schedule, facts, runs, now)
    // With a full queue, an occurrence on time is skipped. A late one, or one of several, stays owed.
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

/** Records of the occurrences that an operator skipped, and of those that don't run. Nothing after `waiting` is settled yet. */
function recordsOf(schedule: Schedule, owed: CatchUpDecision, waiting: Occurrence | null): readonly NewRun[] {
  const skipped = owed.skipped
    .filter(({ scheduledFor }) => waiting === null || scheduledFor < waiting.scheduledFor)
    .map((occurrence) =>
      skipRecordOf(schedule, single(occurrence), {
        reason: "operator",
        message: occurrence.override!.reason,
      }),
    )
  const why = restReason(schedule)
  return [...skipped, ...owed.rest.map((range) => skipRecordOf(schedule, range, why))]
}

function single(occurrence: Occurrence) {
  return { from: occurrence.scheduledFor, until: occurrence.scheduledFor, count: 1 }
}

/** Only with `once` does a run stand for others. */
function missedBy(schedule: Schedule, owed: CatchUpDecision) {
  return schedule.catchUp.policy === "once" ? mergedRange(owed.rest) : null
}

/** With `once`, the rest always ends before an occurrence that runs or has run. */
function restReason(schedule: Schedule) {
  if (schedule.catchUp.policy === "once") {
    return { reason: "coalesced", message: "Folded into a newer occurrence" } as const
  }
  return { reason: "missed", message: "No process fired it in time" } as const
}

/** The occurrence was fired from memory and its run exists, so no obstacle applies any more. */
function isUnfinished({ scheduledFor }: Occurrence, { id }: Schedule, { unfinished }: FireFacts): boolean {
  return unfinished.some((run) => run.id === runIdOf(id, scheduledFor))
}

/** Why an occurrence can't become a run now, or null. `added`: the runs that this plan creates before it. */
function obstacleTo(schedule: Schedule, facts: FireFacts, added: readonly NewRun[], now: Instant) {
  for (const { scheduleId, withinMs } of schedule.dependsOn) {
    const lastSuccessAt = facts.lastSuccessAt[scheduleId] ?? Number.NaN
    // A damaged record may contain any number. One that is no instant proves no success.
    if (!(lastSuccessAt >= now - withinMs && lastSuccessAt <= LATEST)) {
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
      message: `${unfinished} runs are unfinished and at most ${schedule.overlap.limit} may wait`,
    } as const
  }
  return null
}

/** Whether no more runs may wait if this many are unfinished. */
export function isQueueFull({ overlap, maxConcurrentRuns }: Schedule, unfinished: number): boolean {
  const performable = maxConcurrentRuns ?? 1
  // Facts list at most `UNFINISHED_FACTS_MAX` runs, so at that number the queue counts as full.
  return unfinished >= Math.min(performable + overlap.limit, UNFINISHED_FACTS_MAX)
}

function replacedBy(schedule: Schedule, facts: FireFacts): readonly RunChange[] {
  const why = { reason: "Replaced by the next occurrence", by: `schedule:${schedule.id}` }
  return facts.unfinished.map((run) => cancel(run, why)).filter((change) => change !== null)
}

/**
 * How soon a schedule checks again for room in its queue. If the queue is empty, each check creates at least two runs, and no
 * timetable has more than one occurrence a second. So the schedule catches up.
 */
const QUEUE_RECHECK_MS = SECOND

interface OwedResult {
  readonly owed: CatchUpDecision
  readonly runs: readonly NewRun[]
  readonly records: readonly NewRun[]
  readonly cancels: readonly RunChange[]
  /** The first occurrence that stays owed until its queue has room. Null if all are settled. */
  readonly waiting: Occurrence | null
  readonly now: Instant
}

function advance(
  schedule: Schedule,
  facts: FireFacts,
  { owed, runs, records, cancels, waiting, now }: OwedResult,
): Plan {
  const coveredUntil = waiting === null ? owed.coveredUntil : coveredBefore(schedule, waiting)
  const firedCount = schedule.firedCount + ranIn(facts, schedule.coveredUntil, coveredUntil) + runs.length
  const isLast = isSpent({ maxRuns: schedule.maxRuns, firedCount })
  const next = isLast ? null : occurrenceAfter(schedule, coveredUntil)
  const plan = planOf(
    schedule,
    {
      coveredUntil,
      nextRunAt: waiting === null ? (next?.dueAt ?? null) : now + QUEUE_RECHECK_MS,
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
