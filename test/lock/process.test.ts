import assert from "node:assert/strict"
import { test } from "vitest"
import { printedBy } from "./another-process.ts"

test("a held lock doesn't keep a process alive", async () => {
  // Otherwise the process would run for an hour.
  const printed = await printedBy(`
    const lock = await locks.acquire("invoices", { ttl: "1h" })
    console.log(lock.fence)`)

  assert.equal(printed, "1")
})

test("in real time, a waiting caller keeps the process alive, and a lost lock aborts its signal", async () => {
  const printed = await printedBy(`
    const first = await locks.acquire("invoices", { ttl: "300ms", wait: "1h" })
    const second = await locks.acquire("invoices", { ttl: "1h", wait: "1h" })
    console.log(second.fence > first.fence, first.signal.reason.code)`)

  assert.equal(printed, "true BELFRY_LOCK_LOST")
})
