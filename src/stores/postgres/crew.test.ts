import assert from "node:assert/strict"
import { describe, test } from "vitest"
import type { FireAnswer } from "../../store/store.ts"
import { Crew } from "./crew.ts"

/** A clock that stands still until it is told otherwise, and timers that ring at once. */
function aCrew() {
  const clock = { ms: 0, waits: [] as number[] }
  const crew = new Crew({
    monotonic: () => clock.ms,
    random: () => 0.5,
    setTimer(delayMs, callback) {
      clock.waits.push(delayMs)
      callback()
      return () => undefined
    },
  })
  const look = (turn: number, afterMs = 1) => {
    clock.ms += afterMs
    crew.noteTurn(turn)
    return crew.size
  }
  return { crew, clock, look }
}

describe("the size of a crew", () => {
  test.each([
    { what: "one process, looking again and again", turns: [7, 8, 9, 10], sizes: [1, 1, 1, 1] },
    { what: "two, taking turns", turns: [1, 3, 5, 7], sizes: [1, 2, 2, 2] },
    { what: "fifty, of which one falls behind", turns: [1, 51, 151], sizes: [1, 50, 100] },
    { what: "never more than a hundred", turns: [1, 5_000], sizes: [1, 100] },
    { what: "shrinks slowly as others fall silent", turns: [1, 11, 12, 13, 14], sizes: [1, 10, 8, 6, 4] },
  ])("$what", ({ turns, sizes }) => {
    const { look } = aCrew()

    assert.deepEqual(
      turns.map((turn) => look(turn)),
      sizes,
    )
  })

  test("is not told by turns of long ago, and is remembered meanwhile", () => {
    const { crew, look } = aCrew()
    look(1)
    look(6)

    assert.equal(look(900, 60_000), 5)
    assert.equal(crew.lastTurn, 900)
  })

  test("a look of long ago is none to count from", () => {
    const { crew, clock, look } = aCrew()
    assert.equal(crew.lastTurn, null)
    look(3)
    clock.ms += 1_000

    assert.equal(crew.lastTurn, null)
  })
})

describe("stepping back", () => {
  const done: FireAnswer = { outcome: "done", created: [] }
  const stale: FireAnswer = { outcome: "stale" }

  test.each([
    { what: "nothing was fired", answers: [], waits: [] },
    { what: "all came first", answers: [done, done], waits: [] },
    { what: "half came second", answers: [done, stale], waits: [] },
    { what: "most came second", answers: [done, stale, stale], waits: [10] },
  ])("$what", async ({ answers, waits }) => {
    const { crew, clock } = aCrew()

    crew.noteRaces(answers)
    await crew.stepBack()
    await crew.stepBack()

    assert.deepEqual(clock.waits, waits)
  })
})
