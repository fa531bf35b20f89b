import assert from "node:assert/strict"
import { test } from "vitest"
import { printedBy } from "./another-process.ts"

/** A lock that is kept by extensions each third of its time is lost if the process stands still for longer than the rest. */
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
