import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { Crew } from "./crew.ts"

/** A clock that stands still until it is told otherwise. */
function aCrew() {
  const clock = { ms: 0 }
  const crew = new Crew({ monotonic: () => clock.ms })
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
