import type { Schedule } from "./schedule.ts"

/** Why nothing comes of a schedule, though nobody has paused or ended it. */
export interface ScheduleProblem {
  /** `broken`: it can't be planned. `no-worker`: no worker that is online offers its task, so its runs wait. */
  readonly kind: "broken" | "no-worker"
  readonly message: string
}

/** `offered`: the tasks of the workers that are online. */
export function problemsOf(
  schedule: Pick<Schedule, "task" | "enabled" | "paused" | "finishedAt" | "lastError">,
  offered: ReadonlySet<string>,
): readonly ScheduleProblem[] {
  const { task, enabled, paused, finishedAt, lastError } = schedule
  if (lastError !== null) return [{ kind: "broken", message: lastError }]
  const isActive = enabled && paused === null && finishedAt === null
  if (!isActive || offered.has(task)) return []
  const why =
    offered.size === 0 ? "No worker is online" : `No worker that is online offers the task "${task}"`
  return [{ kind: "no-worker", message: `${why}: its runs wait.` }]
}
