import { type CatchUpDecision, owedUpTo } from "./catch-up.ts"
import { formatDuration } from "./duration.ts"
import type { Instant } from "./instant.ts"
import { newRunOf, skipRecordOf } from "./new-run.ts"
import { newestDue, newestPassed, type Occurrence, occurrenceAfter } from "./occurrence.ts"
import { planResume, settlePause } from "./pausing.ts"
import {
  type FireFacts,
  type FirePlan,
  planFrom,
  planOf,
  UNFINISHED_FACTS_MAX,
  withoutFinished,
} from "./plan.ts"
import { cancel, type NewRun, type RunChange } from "./run.ts"
import { isSpent, type Schedule } from "./schedule.ts"

/**
 * What this schedule owes at `now`, and when it is next due. Pure, so nodes that read the same schedule make the same
 * plan, and the store lets one of them through.
 */
export function planFire(schedule: Schedule, facts: FireFacts, now: Instant): FirePlan {
  try {
    if (!schedule.enabled) return planOf(schedule, { nextRunAt: null })
    if (schedule.coveredUntil === null) return planOf(schedule, planFrom(schedule, now))
    if (schedule.paused !== null) return planPaused(schedule, facts, now)
    return planOwed(schedule, facts, owedUpTo(newestDue(schedule, now), schedule, now), now)
  } catch (error) {
    return planUnreadable(schedule, error)
  }
}

/**
 * Written past our door (by SQL, say), or by a version that knows more: whatever is wrong with it is shown on the schedule,
 * and the others go on.
 */
function planUnreadable(schedule: Schedule, error: unknown): FirePlan {
  return planOf(schedule, {
    nextRunAt: null,
    lastError: error instanceof Error ? error.message : String(error),
  })
}

function planPaused(schedule: Schedule, facts: FireFacts, now: Instant): FirePlan {
  const until = schedule.paused!.until
  if (until === null || until > now) return planOf(schedule, { nextRunAt: until })
  // The pause ended when it was meant to, not when somebody looked: what came since is late like anything else.
  const resumed = planResume(schedule, until - 1)
  if (resumed.progress === null) return resumed
  const fired = planFire({ ...schedule, ...resumed.progress }, facts, now)
  return { ...fired, runs: [...resumed.runs, ...fired.runs] }
}

/**
 * Before an edit: whatever already had its time becomes a run now, even if jitter or a move still holds it back (it then
 * waits as a run). Otherwise the edit would take away an occurrence that was promised. What a pause has dropped so far is
 * recorded by the old timetable. Null if nothing is owed.
 */
export function planSettle(schedule: Schedule, facts: FireFacts, now: Instant): FirePlan | null {
  if (!schedule.enabled || schedule.lastError !== null) return null
  try {
    if (schedule.paused !== null) return settlePause(schedule, now)
    const newest = newestPassed(schedule, now)
    return newest === null ? null : planOwed(schedule, facts, owedUpTo(newest, schedule, now), now)
  } catch (error) {
    // The edit may be what mends it.
    return planUnreadable(schedule, error)
  }
}

function planOwed(schedule: Schedule, facts: FireFacts, owed: CatchUpDecision, now: Instant): FirePlan {
  const records: NewRun[] = []
  const runs: NewRun[] = []
  const cancels: RunChange[] = []

  for (const occurrence of owed.left) {
    records.push(
      skipRecordOf(schedule, single(occurrence), {
        reason: "operator",
        message: occurrence.override!.reason,
      }),
    )
  }
  if (owed.rest !== null) records.push(skipRecordOf(schedule, owed.rest, restReason(schedule, owed)))
  for (const occurrence of owed.kept) {
    // What the timetable still has after the last run is no occurrence of this schedule any more.
    if (isSpent({ maxRuns: schedule.maxRuns, runCount: schedule.runCount + runs.length })) break
    const obstacle = obstacleTo(schedule, facts, runs.length, now)
    if (obstacle !== null) {
      records.push(skipRecordOf(schedule, single(occurrence), obstacle))
      continue
    }
    if (schedule.overlap.policy === "replace") cancels.push(...replacedBy(schedule, facts))
    runs.push(
      newRunOf(schedule, occurrence, { isLate: owed.isLate(occurrence), missed: missedBy(schedule, owed) }),
    )
  }
  return advance(schedule, { owed, runs, records, cancels, now })
}

function single(occurrence: Occurrence) {
  return { from: occurrence.scheduledFor, until: occurrence.scheduledFor, count: 1 }
}

/** Only a run that stands in for others is told of them. */
function missedBy(schedule: Schedule, owed: CatchUpDecision) {
  return schedule.catchUp.policy === "once" ? owed.rest : null
}

function restReason(schedule: Schedule, owed: CatchUpDecision) {
  if (schedule.catchUp.policy === "once" && owed.kept.length > 0) {
    return { reason: "coalesced", message: "Folded into the newest missed occurrence" } as const
  }
  return { reason: "missed", message: "Nothing was there to fire it in time" } as const
}

/** Why an occurrence can't become a run now, or null. `added` counts the runs this plan creates already. */
function obstacleTo(schedule: Schedule, facts: FireFacts, added: number, now: Instant) {
  for (const { scheduleId, withinMs } of schedule.dependsOn) {
    const lastSuccessAt = facts.lastSuccessAt[scheduleId] ?? null
    if (lastSuccessAt === null || lastSuccessAt < now - withinMs) {
      const message = `${scheduleId} has not succeeded in the last ${formatDuration(withinMs)}`
      return { reason: "dependency", message } as const
    }
  }
  const unfinished = facts.unfinished.length + added
  if (schedule.overlap.policy === "skip" && unfinished > 0) {
    return { reason: "overlap", message: `Still unfinished: ${facts.unfinished[0]?.id}` } as const
  }
  const performable = schedule.maxConcurrentRuns ?? 1
  // Nobody sees more than that many: there a queue is full, whatever its limit.
  const room = Math.min(performable + schedule.overlap.limit, UNFINISHED_FACTS_MAX)
  if (schedule.overlap.policy === "queue" && unfinished >= room) {
    return {
      reason: "capacity",
      message: `${unfinished} runs are unfinished and ${schedule.overlap.limit} may wait`,
    } as const
  }
  return null
}

function replacedBy(schedule: Schedule, facts: FireFacts): readonly RunChange[] {
  const why = { reason: "Replaced by the next occurrence", by: `schedule:${schedule.id}` }
  return facts.unfinished.map((run) => cancel(run, why)).filter((change) => change !== null)
}

function advance(
  schedule: Schedule,
  made: {
    owed: CatchUpDecision
    runs: readonly NewRun[]
    records: readonly NewRun[]
    cancels: readonly RunChange[]
    now: Instant
  },
): FirePlan {
  const { owed, runs, records, cancels, now } = made
  const coveredUntil = owed.coveredUntil + (owed.kept.length > 0 ? schedule.spacingMs : 0)
  const runCount = schedule.runCount + runs.length
  const isLast = isSpent({ maxRuns: schedule.maxRuns, runCount })
  const next = isLast ? null : occurrenceAfter(schedule, coveredUntil)
  const lastRun = runs[runs.length - 1]
  const plan = planOf(
    schedule,
    {
      coveredUntil,
      nextRunAt: next?.dueAt ?? null,
      finishedAt: next === null ? (schedule.finishedAt ?? now) : null,
      overrides: schedule.overrides.filter((override) => override.scheduledFor > coveredUntil),
      runCount,
      lastError: null,
      ...(lastRun === undefined ? {} : { lastRunId: lastRun.id, lastRunAt: now }),
    },
    { runs: [...records, ...runs], cancels },
  )
  return withoutFinished(schedule, plan)
}
