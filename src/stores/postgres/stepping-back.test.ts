import assert from "node:assert/strict"
import { test } from "vitest"
import type { FireAnswer } from "../../store/store.ts"
import { SteppingBack } from "./stepping-back.ts"

const done: FireAnswer = { outcome: "done", created: [] }
const stale: FireAnswer = { outcome: "stale" }

test.each([
  { what: "nothing was fired", answers: [], waits: [] },
  { what: "all came first", answers: [done, done], waits: [] },
  { what: "half came second", answers: [done, stale], waits: [] },
  { what: "most came second", answers: [done, stale, stale], waits: [10] },
])("$what", async ({ answers, waits }) => {
  const waited: number[] = []
  const racing = new SteppingBack({
    random: () => 0.5,
    setTimer(delayMs, callback) {
      waited.push(delayMs)
      callback()
      return () => undefined
    },
  })

  racing.noteRaces(answers)
  await racing.stepBack()
  await racing.stepBack()

  assert.deepEqual(waited, waits)
})
