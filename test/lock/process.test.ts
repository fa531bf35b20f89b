import assert from "node:assert/strict"
import { test } from "vitest"
import { printedBy } from "./another-process.ts"

test("a lock that is held doesn't keep a process alive", async () => {
  // If it did, the process would live for an hour.
  const printed = await printedBy(`
    const lock = await locks.acquire("invoices", { ttl: "1h" })
    console.log(lock.fence)`)

  assert.equal(printed, "1")
})

test("one who waits for a lock does, and a lock that is lost says so, in real time", async () => {
  const printed = await printedBy(`
    const first = await locks.acquire("invoices", { ttl: "300ms", wait: "1h" })
    const second = await locks.acquire("invoices", { ttl: "1h", wait: "1h" })
    console.log(second.fence > first.fence, first.signal.reason.code)`)

  assert.equal(printed, "true BELFRY_LOCK_LOST")
})
