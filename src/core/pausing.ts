import { rangeUntil } from "./catch-up.ts"
import type { Instant } from "./instant.ts"
import { skipRecordOf } from "./new-run.ts"
import { newestDue, newestPassed, type Occurrence } from "./occurrence.ts"
import { type FirePlan, planFrom, planOf, withoutFinished } from "./plan.ts"
import type { NewRun } from "./run.ts"
import type { Schedule } from "./schedule.ts"

/** What fell into the pause is one record; then on from now. */
export function planResume(schedule: Schedule, now: Instant): FirePlan {
  const newest = newestDropped(schedule, now)
  const runs = newest === null ? [] : [pausedUntil(schedule, newest)]
  const resumed = { ...schedule, paused: null }
  const progress = planFrom(resumed, Math.max(now, schedule.coveredUntil ?? now, newest?.scheduledFor ?? now))
  const nextRunAt = schedule.enabled ? progress.nextRunAt! : null
  return withoutFinished(schedule, planOf(resumed, { ...progress, nextRunAt }, { runs }))
}

function pausedUntil(schedule: Schedule, newest: Occurrence): NewRun {
  const { reason, by } = schedule.paused ?? { reason: null, by: null }
  const message = `Paused${by === null ? "" : ` by ${by}`}${reason === null ? "" : `: ${reason}`}`
  const range = rangeUntil(schedule, schedule.coveredUntil!, newest.scheduledFor)
  return skipRecordOf(schedule, range, { reason: "paused", message })
}

/** By its nominal instant, or because it was moved forward into the pause. */
function newestDropped(schedule: Schedule, now: Instant): Occurrence | null {
  const passed = newestPassed(schedule, now)
  const due = newestDue(schedule, now)
  return due !== null && (passed === null || due.scheduledFor > passed.scheduledFor) ? due : passed
}

/** What a pause has dropped so far, recorded by the timetable it was dropped by; the pause goes on. */
export function settlePause(schedule: Schedule, now: Instant): FirePlan | null {
  const newest = newestDropped(schedule, now)
  if (newest === null) return null
  return planOf(schedule, { coveredUntil: newest.scheduledFor }, { runs: [pausedUntil(schedule, newest)] })
}
