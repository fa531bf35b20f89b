import { isFinished, type RunState } from "../run/run.ts"
import type { Instant } from "../time/instant.ts"
import type { EndState, ScheduleTally } from "./schedule.ts"

/** A schedule's tally after one of its runs has ended. */
export function afterEnd<Tally extends ScheduleTally>(tally: Tally, state: EndState, now: Instant): Tally {
  const ended = { ...tally, lastState: state, lastEndedAt: now }
  if (state === "succeeded") return { ...ended, lastSuccessAt: now, failuresInARow: 0 }
  return state === "failed" ? { ...ended, failuresInARow: tally.failuresInARow + 1 } : ended
}

export function tallyOf(tally: ScheduleTally): ScheduleTally {
  const { runCount, lastRunId, lastRunAt, lastState, lastEndedAt, lastSuccessAt, failuresInARow } = tally
  return { runCount, lastRunId, lastRunAt, lastState, lastEndedAt, lastSuccessAt, failuresInARow }
}

/** A skip is finished, but it is not the end of a performed run. */
export function isEnd(state: RunState): state is EndState {
  return isFinished(state) && state !== "skipped"
}
