import assert from "node:assert/strict"
import { test } from "vitest"
import { printedBy } from "./another-process.ts"

/** In the long tests, because on a busy machine the extensions, each third of the ttl, may come too late. */
test("work that lasts longer than its ttl keeps the lock, in real time", async () => {
  const printed = await printedBy(`
    const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
    const done = locks.using("invoices", { ttl: "3s" }, async ({ signal }) => {
      await sleep(10_000)
      return signal.aborted
    })
    await sleep(7_000)
    console.log(await locks.tryAcquire("invoices"), await done)`)

  assert.equal(printed, "null false")
})
