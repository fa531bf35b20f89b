import { noRunCounts, type RunCounts } from "../../core/run-states.ts"
import { noScheduleCounts, type ScheduleCounts } from "../../core/schedule-state.ts"

/** Counts from pairs of a state and a number. Anything else than one of our states wasn't written by Belfry. */

export type StateCount = readonly [state: string, count: number]

export function runCountsOf(pairs: Iterable<StateCount>, limit: number): RunCounts {
  return countsOf(noRunCounts(), pairs, limit)
}

export function scheduleCountsOf(pairs: Iterable<StateCount>, limit: number): ScheduleCounts {
  return countsOf(noScheduleCounts(), pairs, limit)
}

/** The same state may come several times. None is counted further than the limit. */
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
