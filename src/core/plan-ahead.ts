import { planFire } from "./fire.ts"
import type { FireFacts, Plan } from "./plan.ts"
import type { Schedule } from "./schedule.ts"

/**
 * What the schedule will owe at its next instant, made a moment before it: runs that wait for that instant. Null where that
 * can't be known yet: something that happens until then, other than somebody's edit, might change it.
 */
export function planAhead(schedule: Schedule, facts: FireFacts): Plan | null {
  if (!isForeseeable(schedule, facts)) return null
  const plan = planFire(schedule, facts, schedule.nextRunAt!)
  const isPlain = plan.runs.length > 0 && plan.runs.every((run) => run.state === "pending")
  return isPlain && !isItsLast(plan) ? plan : null
}

/** A run that is unfinished may end in time, and one that this schedule waits for may succeed. */
function isForeseeable(schedule: Schedule, { unfinished }: FireFacts): boolean {
  const { enabled, paused, coveredUntil, dependsOn, overlap } = schedule
  const isGoingOn = enabled && paused === null && coveredUntil !== null
  return isGoingOn && unfinished.length === 0 && dependsOn.length === 0 && overlap.policy !== "replace"
}

/** Nobody should see a schedule finished, or gone, before its last occurrence has come. */
function isItsLast({ progress }: Plan): boolean {
  return progress === null || progress.finishedAt !== null
}
