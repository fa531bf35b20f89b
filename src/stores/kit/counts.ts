import { noRunCounts, type RunCounts } from "../../core/run/run-states.ts"
import { noScheduleCounts, type ScheduleCounts } from "../../core/schedule/schedule-state.ts"

/** Counts from pairs of a state and a number. Unknown states were not written by Belfry and are ignored. */

export type StateCount = readonly [state: string, count: number]

export function runCountsOf(pairs: Iterable<StateCount>, limit: number): RunCounts {
  return countsOf(noRunCounts(), pairs, limit)
}

export function scheduleCountsOf(pairs: Iterable<StateCount>, limit: number): ScheduleCounts {
  return countsOf(noScheduleCounts(), pairs, limit)
}

/** A state may occur in several pairs. Each total stops at the limit. */
function countsOf<State extends string>(
  counts: Record<State, number>,
  pairs: Iterable<StateCount>,
  limit: number,
): Record<State, number> {
  const isState = (state: string): state is State => Object.hasOwn(counts, state)
  for (const [state, count] of pairs)
    if (isState(state)) counts[state] = Math.min(limit, counts[state] + count)
  return counts
}
