import { formatInstant, type Instant } from "../time/instant.ts"
import type { Schedule } from "./schedule.ts"
import { isActive, type StateParts, scheduleStateOf } from "./schedule-state.ts"

/** Why a schedule doesn't run although it is neither paused nor finished. */
export interface ScheduleProblem {
  /**
   * `broken`: it can't be planned. `overdue`: it was due more than two minutes ago and no process has fired it. `no-worker`: no
   * online worker offers its task, so its runs wait.
   */
  readonly kind: "broken" | "overdue" | "no-worker"
  readonly message: string
}

/** `offered`: the tasks of the workers that are online. */
export function problemsOf(
  schedule: StateParts & Pick<Schedule, "task">,
  offered: ReadonlySet<string>,
  now: Instant,
): readonly ScheduleProblem[] {
  const { task, lastError, nextRunAt } = schedule
  const state = scheduleStateOf(schedule, now)
  if (lastError !== null) return [{ kind: "broken", message: lastError }]
  if (!isActive(state)) return []
  const problems: ScheduleProblem[] = []
  if (state === "overdue") {
    const message =
      `It was due at ${formatInstant(nextRunAt!)} and has not been fired. ` +
      'Check that a process with the role "fire" is running.'
    problems.push({ kind: "overdue", message })
  }
  if (!offered.has(task)) {
    const why =
      offered.size === 0 ? "No worker is online" : `No worker that is online offers the task "${task}"`
    problems.push({ kind: "no-worker", message: `${why}: its runs wait.` })
  }
  return problems
}
