import type { Instant } from "./instant.ts"
import { isFinished, type RunState } from "./run.ts"
import type { EndState, ScheduleTally } from "./schedule.ts"

/** A schedule, or what is counted of it, when one of its runs has ended. */
export function afterEnd<Tally extends ScheduleTally>(tally: Tally, state: EndState, now: Instant): Tally {
  const ended = { ...tally, lastState: state, lastEndedAt: now }
  if (state === "succeeded") return { ...ended, lastSuccessAt: now, failuresInARow: 0 }
  return state === "failed" ? { ...ended, failuresInARow: tally.failuresInARow + 1 } : ended
}

export function tallyOf(tally: ScheduleTally): ScheduleTally {
  const { runCount, lastRunId, lastRunAt, lastState, lastEndedAt, lastSuccessAt, failuresInARow } = tally
  return { runCount, lastRunId, lastRunAt, lastState, lastEndedAt, lastSuccessAt, failuresInARow }
}

/** A skip is the record of an occurrence that nobody performed. */
export function isEnd(state: RunState): state is EndState {
  return isFinished(state) && state !== "skipped"
}
