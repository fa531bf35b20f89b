import assert from "node:assert/strict"
import { test } from "vitest"
import { RUN_STATES } from "../run/run-states.ts"
import { type EndState, NO_RUNS } from "./schedule.ts"
import { afterEnd, isEnd } from "./schedule-tally.ts"

const S = "succeeded"
const F = "failed"
const C = "cancelled"

test.each<[ends: readonly EndState[], last: EndState, success: number | null, failures: number]>([
  [[S], S, 1, 0],
  [[F], F, null, 1],
  [[C], C, null, 0],
  [[F, F, F], F, null, 3],
  [[F, C, F], F, null, 2],
  [[F, F, C], C, null, 2],
  [[F, S], S, 2, 0],
  [[S, F], F, 1, 1],
  [[S, C], C, 1, 0],
])(
  "after runs that end as %j, the last state is %s, the last success %s, the failures in a row %d",
  (ends, lastState, lastSuccessAt, failuresInARow) => {
    const tally = ends.reduce((before, state, index) => afterEnd(before, state, index + 1), NO_RUNS)

    assert.deepEqual(tally, {
      ...NO_RUNS,
      ...{ lastState, lastEndedAt: ends.length, lastSuccessAt, failuresInARow },
    })
  },
)

test("succeeded, failed and cancelled are the states in which a run has ended", () => {
  assert.deepEqual(RUN_STATES.filter(isEnd), [S, F, C])
})
