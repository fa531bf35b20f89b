import { expect, test } from "vitest"
import { keepsInvariants } from "./seeds.ts"
import { SITUATIONS } from "./situations.ts"
import { simulate } from "./world.ts"

/** The quick suite simulates these days, and goes on until every situation has come up. */
const DAYS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
/** With situations that come up once in twenty days. Seeds that no longer do cost time, nothing else. */
const RARE_DAYS = [62]
const DAYS_MAX = 100

test("days that get into every situation keep every invariant", async () => {
  const missing = new Set<string>(SITUATIONS)

  const simulated = async (seed: number) => {
    for (const situation of await keepsInvariants(seed)) missing.delete(situation)
  }
  for (const seed of [...DAYS, ...RARE_DAYS]) await simulated(seed)
  for (let seed = DAYS.length + 1; missing.size > 0 && seed <= DAYS_MAX; seed++) await simulated(seed)

  expect([...missing], "situations that the seeds never get into").toEqual([])
})

test("the same seed is the same day, to the last step", async () => {
  const first = await simulate(7)
  const second = await simulate(7)
  const other = await simulate(8)

  expect(second.hash).toBe(first.hash)
  expect(other.hash).not.toBe(first.hash)
})
