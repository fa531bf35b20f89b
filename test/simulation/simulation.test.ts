import { expect, test } from "vitest"
import { simulate } from "./world.ts"

test("x", async () => {
  const t = performance.now()
  for (let seed = 1; seed <= 5; seed++) {
    const o = await simulate(seed)
    expect(o.violations).toEqual([])
  }
  console.log((performance.now() - t) / 5, process.cpuUsage())
})
