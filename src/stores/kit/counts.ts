import { noRunCounts, type RunCounts } from "../../core/run/run-states.ts"
import { noScheduleCounts } from "../../core/schedule/schedule-state.ts"
import type { Counts, TaskCounts } from "../../store/store.ts"

/** Counts from the numbers that a store read. Unknown states were not written by Belfry and are ignored. */

export type StateCount = readonly [state: string, count: number]

/** A state may occur in several pairs. */
export function runCountsOf(pairs: Iterable<StateCount>, limit: number): RunCounts {
  const counts = noRunCounts()
  for (const [state, count] of pairs) add(counts, state, count, limit)
  return counts
}

export type ScheduleCounted = Pick<Counts, "schedules" | "tasks">

export const NO_SCHEDULES_COUNTED: ScheduleCounted = { schedules: noScheduleCounts(), tasks: [] }

/** The task is null or empty if it can't be read. */
export type ScheduleCount = readonly [task: string | null, state: string, count: number]

/** A task and a state may occur several times. */
export function scheduleCountsOf(parts: Iterable<ScheduleCount>, limit: number): ScheduleCounted {
  const schedules = noScheduleCounts()
  const byTask = new Map<string, ReturnType<typeof noScheduleCounts>>()
  for (const [task, state, count] of parts) {
    add(schedules, state, count, limit)
    if (task === null || task === "") continue
    const counts = byTask.get(task) ?? noScheduleCounts()
    byTask.set(task, counts)
    add(counts, state, count, limit)
  }
  const tasks = [...byTask].map(([task, counts]): TaskCounts => ({ task, schedules: counts }))
  return { schedules, tasks: tasks.sort(byName).slice(0, limit) }
}

/** The total stops at the limit. */
function add<State extends string>(
  counts: Record<State, number>,
  state: string,
  count: number,
  limit: number,
): void {
  const isState = (word: string): word is State => Object.hasOwn(counts, word)
  if (isState(state)) counts[state] = Math.min(limit, counts[state] + count)
}

/** Ids and names are ordered by their UTF-8 bytes. */
function byName(a: TaskCounts, b: TaskCounts): number {
  return Buffer.compare(Buffer.from(a.task), Buffer.from(b.task))
}
