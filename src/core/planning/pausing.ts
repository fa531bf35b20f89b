import type { NewRun } from "../run/run.ts"
import type { Schedule } from "../schedule/schedule.ts"
import type { Instant } from "../time/instant.ts"
import { gapsIn, owedUpTo } from "./catch-up.ts"
import { skipRecordOf } from "./new-run.ts"
import { newestDue, newestPassed, type Occurrence, passedBy } from "./occurrence.ts"
import {
  type FireFacts,
  factsAfter,
  followedBy,
  type Plan,
  planFrom,
  planOf,
  ranIn,
  withoutFinished,
} from "./plan.ts"
import { planOwed } from "./plan-owed.ts"
import { settleSkipped, skippedByReschedule } from "./skipped-by-reschedule.ts"

/**
 * The plan of a paused schedule. Occurrences due before the pause are owed like any other late occurrence. Occurrences due
 * during the pause are dropped, and recorded as one interval when the pause ends.
 */
export function planPaused(schedule: Schedule, facts: FireFacts, now: Instant): Plan {
  const { until } = schedule.paused!
  const settled = settledBeforePause(schedule, facts, now)
  if (until === null || until > now) return { ...settled, progress: withNextRunAt(settled, until) }
  // The pause ended at `until`, even if no process looked then. Occurrences since are late like any others.
  return followedBy(schedule, settled, (paused) =>
    followedBy(paused, resumed(paused, facts, until - 1), (running) => {
      const owed = owedUpTo(newestDue(running, now), running, now, facts.recorded)
      return planOwed(running, factsAfter(facts, settled), owed, now, { canWait: true })
    }),
  )
}

/** Ends a pause: records the occurrences that it dropped, and continues from now. */
export function planResume(schedule: Schedule, facts: FireFacts, now: Instant): Plan {
  const settled = settledBeforePause(schedule, facts, now)
  return followedBy(schedule, settled, (paused) => resumed(paused, facts, now))
}

/** Records what the pause has dropped so far, by the current timetable. The pause continues. Null: nothing is owed. */
export function settlePause(schedule: Schedule, facts: FireFacts, now: Instant): Plan | null {
  const settled = settledBeforePause(schedule, facts, now)
  const plan = followedBy(schedule, settled, (paused) => {
    const newest = newestDropped(paused, now)
    if (newest === null) return settleSkipped(paused, facts, now) ?? planOf(paused, {})
    return planOf(
      paused,
      { coveredUntil: newest.scheduledFor, firedCount: firedUntil(paused, facts, newest.scheduledFor) },
      {
        runs: [
          ...skippedByReschedule(paused, newest.scheduledFor, facts),
          ...droppedUntil(paused, facts, newest),
        ],
      },
    )
  })
  const isSettled = plan.progress !== null && plan.progress.coveredUntil === schedule.coveredUntil
  return isSettled ? null : { ...plan, progress: withNextRunAt(plan, schedule.paused!.until) }
}

/** Fires what was due when the pause began. The pause continues. */
function settledBeforePause(schedule: Schedule, facts: FireFacts, now: Instant): Plan {
  const newest = newestDue(schedule, Math.min(schedule.paused!.at, now))
  if (newest === null) return planOf(schedule, {})
  return planOwed(schedule, facts, owedUpTo(newest, schedule, now, facts.recorded), now)
}

function resumed(schedule: Schedule, facts: FireFacts, now: Instant): Plan {
  const newest = newestDue(schedule, now)
  const runs = newest === null ? [] : droppedUntil(schedule, facts, newest)
  const running = { ...schedule, paused: null }
  const passed = passedBy(schedule, now)
  const settled = Math.max(passed, schedule.coveredUntil ?? passed, newest?.scheduledFor ?? passed)
  const progress = planFrom(running, settled)
  const records = [...skippedByReschedule(schedule, progress.coveredUntil!, facts), ...runs]
  const nextRunAt = schedule.enabled ? progress.nextRunAt! : null
  const firedCount = firedUntil(schedule, facts, progress.coveredUntil!)
  return withoutFinished(schedule, planOf(running, { ...progress, nextRunAt, firedCount }, { runs: records }))
}

/** Counts also the runs that a process fired from memory during the pause because it could not read the schedule. */
function firedUntil({ firedCount, coveredUntil }: Schedule, facts: FireFacts, until: Instant): number {
  return firedCount + ranIn(facts, coveredUntil, until)
}

function droppedUntil(schedule: Schedule, facts: FireFacts, newest: Occurrence): readonly NewRun[] {
  const { reason, by } = schedule.paused!
  const message = `Paused${by === null ? "" : ` by ${by}`}${reason === null ? "" : `: ${reason}`}`
  const dropped = { after: schedule.coveredUntil!, until: newest.scheduledFor }
  return gapsIn(schedule, dropped, facts.recorded).map((range) =>
    skipRecordOf(schedule, range, { reason: "paused", message }),
  )
}

/** The newest occurrence in the pause, by its nominal instant or because it was moved forward into the pause. */
function newestDropped(schedule: Schedule, now: Instant): Occurrence | null {
  const passed = newestPassed(schedule, now)
  const due = newestDue(schedule, now)
  return due !== null && (passed === null || due.scheduledFor > passed.scheduledFor) ? due : passed
}

function withNextRunAt({ progress }: Plan, nextRunAt: Instant | null) {
  return progress === null ? null : { ...progress, nextRunAt }
}
