import { expect, test } from "vitest"
import { PLANTED_BUGS } from "./planted-bugs.ts"
import { simulate } from "./world.ts"

const SEEDS_MAX = 100

/**
 * Seeds that notice a bug which seed 1 doesn't notice. A seed that no longer notices its bug only costs time.
 * `scripts/simulation-seeds.ts` finds others.
 */
const NOTICED_BY: Readonly<Record<string, number>> = {
  M2: 6,
  M7: 10,
  M11: 2,
  M13: 3,
  M19: 5,
  M20: 2,
  M24: 127,
  M27: 6,
  M29: 4,
}

for (const [bug, planted] of Object.entries(PLANTED_BUGS)) {
  test(`the simulation notices ${bug}`, async () => {
    const known = NOTICED_BY[bug.slice(0, bug.indexOf(" "))] ?? 1
    let violations = (await simulate(known, planted)).violations
    for (let seed = 1; seed <= SEEDS_MAX && violations.length === 0; seed++) {
      violations = (await simulate(seed, planted)).violations
    }

    expect(violations).not.toEqual([])
  })
}
