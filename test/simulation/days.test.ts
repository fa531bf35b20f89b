import { expect, test } from "vitest"
import { keepsInvariants } from "./seeds.ts"
import { SITUATIONS } from "./situations.ts"
import { simulate } from "./world.ts"

/**
 * The quick suite simulates these days, which together contain every situation. If a situation is missing after a change of the
 * code, OTHER_DAYS are simulated too, until all have occurred. `scripts/simulation-seeds.ts` then finds quicker days.
 */
const DAYS = [56, 62, 63, 65, 71]
const OTHER_DAYS = Array.from({ length: 80 }, (_, index) => index + 100)

test("the invariants hold on days that together contain every situation", async () => {
  const missing = new Set<string>(SITUATIONS)

  const simulated = async (seed: number) => {
    for (const situation of await keepsInvariants(seed)) missing.delete(situation)
  }
  for (const seed of DAYS) await simulated(seed)
  for (const seed of OTHER_DAYS) if (missing.size > 0) await simulated(seed)

  expect([...missing], "situations that occur on none of the days").toEqual([])
})

test("the same seed simulates the same day, step by step", async () => {
  const first = await simulate(15)
  const second = await simulate(15)
  const other = await simulate(17)

  expect(second.hash).toBe(first.hash)
  expect(other.hash).not.toBe(first.hash)
})
