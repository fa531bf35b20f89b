import type { Schedule } from "../schedule/schedule.ts"
import { planFire } from "./fire.ts"
import type { FireFacts, Plan } from "./plan.ts"

/**
 * The plan for the schedule's next instant, made shortly before it. Its runs are stored early and wait for that instant.
 * Null if the plan can't be known yet, because something other than an edit could still change it.
 */
export function planAhead(schedule: Schedule, facts: FireFacts): Plan | null {
  if (!isForeseeable(schedule, facts)) return null
  const plan = planFire(schedule, facts, schedule.nextRunAt!)
  const isPlain = plan.runs.length > 0 && plan.runs.every((run) => run.state === "pending")
  return isPlain && !isLast(plan) ? plan : null
}

/** Until then an unfinished run may end, and a schedule that this one depends on may succeed. */
function isForeseeable(schedule: Schedule, { unfinished }: FireFacts): boolean {
  const { enabled, paused, coveredUntil, dependsOn, overlap } = schedule
  const isActive = enabled && paused === null && coveredUntil !== null
  return isActive && unfinished.length === 0 && dependsOn.length === 0 && overlap.policy !== "replace"
}

/** A schedule must not show as finished, or be deleted, before its last occurrence. */
function isLast({ progress }: Plan): boolean {
  return progress === null || progress.finishedAt !== null
}
