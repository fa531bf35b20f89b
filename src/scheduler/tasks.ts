import { COUNT_MAX } from "../core/options/limits.ts"
import { ACTIVE_STATES, SCHEDULE_STATES, type ScheduleState } from "../core/schedule/schedule-state.ts"
import type { Store, TaskCounts } from "../store/store.ts"
import type { Client } from "./client.ts"
import { collected } from "./listing.ts"
import { offeredTasks } from "./online-workers.ts"

/** A task that workers offer or schedules name. */
export interface TaskView {
  readonly name: string
  /** The number of online workers that offer the task. */
  readonly workers: number
  /** The number of schedules that name the task. Counting stops at 10,000 for each state of a schedule. */
  readonly schedules: number
}

const PAGE = 1_000

export async function listTasks(client: Pick<Client, "workers">, store: Store): Promise<readonly TaskView[]> {
  const offered = offeredTasks(await collected(client.workers({ limit: PAGE })))
  const { tasks } = await store.count({ schedules: {}, limit: COUNT_MAX })
  const scheduled = new Map(tasks.map((counts) => [counts.task, sumOf(counts, SCHEDULE_STATES)]))
  return [...new Set([...offered.keys(), ...scheduled.keys()])]
    .sort()
    .map((name) => ({ name, workers: offered.get(name) ?? 0, schedules: scheduled.get(name) ?? 0 }))
}

/** The tasks of active schedules that no online worker offers. */
export function unofferedTasks(
  tasks: readonly TaskCounts[],
  offered: ReadonlyMap<string, number>,
): readonly string[] {
  return tasks
    .filter((counts) => sumOf(counts, ACTIVE_STATES) > 0 && !offered.has(counts.task))
    .map(({ task }) => task)
}

function sumOf({ schedules }: TaskCounts, states: readonly ScheduleState[]): number {
  return states.reduce((sum, state) => sum + schedules[state], 0)
}
