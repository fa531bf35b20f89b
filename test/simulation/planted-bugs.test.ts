import { expect, test } from "vitest"
import { PLANTED_BUGS } from "./planted-bugs.ts"
import { simulate } from "./world.ts"

const SEEDS_MAX = 100

for (const [bug, planted] of Object.entries(PLANTED_BUGS)) {
  test(`the simulation notices ${bug}`, async () => {
    let violations: readonly string[] = []
    for (let seed = 1; seed <= SEEDS_MAX && violations.length === 0; seed++) {
      violations = (await simulate(seed, planted)).violations
    }

    expect(violations).not.toEqual([])
  })
}

test("the same seed is the same day, to the last step", async () => {
  const first = await simulate(7)
  const second = await simulate(7)
  const other = await simulate(8)

  expect(second.hash).toBe(first.hash)
  expect(other.hash).not.toBe(first.hash)
})
