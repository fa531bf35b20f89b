import { expect, test } from "vitest"
import { keepsInvariants } from "./seeds.ts"
import { SITUATIONS } from "./situations.ts"
import { simulate } from "./world.ts"

/** The quick suite simulates this many days, and goes on until every situation has come up. */
const DAYS_MIN = 12
const DAYS_MAX = 100

test("days that get into every situation keep every invariant", async () => {
  const missing = new Set<string>(SITUATIONS)

  for (let seed = 1; seed <= DAYS_MIN || (missing.size > 0 && seed <= DAYS_MAX); seed++)
    for (const situation of await keepsInvariants(seed)) missing.delete(situation)

  expect([...missing], "situations that the seeds never get into").toEqual([])
})

test("the same seed is the same day, to the last step", async () => {
  const first = await simulate(7)
  const second = await simulate(7)
  const other = await simulate(8)

  expect(second.hash).toBe(first.hash)
  expect(other.hash).not.toBe(first.hash)
})
