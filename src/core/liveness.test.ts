import assert from "node:assert/strict"
import { test } from "vitest"
import { silentForMs } from "./liveness.ts"

const RHYTHM = { leaseMs: 30_000, pollMs: 60_000 }
const NOW = Date.parse("2026-03-10T08:30:00Z")

test.each([
  { running: 0, ageMs: 0, silent: null, words: "an idle worker that has just beaten is there" },
  { running: 0, ageMs: 60_000, silent: null, words: "an idle worker beats once a poll" },
  { running: 0, ageMs: 90_000, silent: null, words: "its beat may be as late as a lease" },
  { running: 0, ageMs: 90_001, silent: 90_001, words: "later than that it is silent, since its last beat" },
  { running: 3, ageMs: 20_000, silent: null, words: "a busy worker may miss beats" },
  { running: 3, ageMs: 30_000, silent: null, words: "its leases stand until their last moment" },
  { running: 3, ageMs: 30_001, silent: 30_001, words: "when they have ended it is silent" },
  { running: 3, ageMs: 86_400_000, silent: 86_400_000, words: "for as long as it takes" },
  { running: 0, ageMs: -5_000, silent: null, words: "a beat from a clock ahead is no silence" },
])("$words", ({ running, ageMs, silent }) => {
  assert.equal(silentForMs({ heartbeatAt: NOW - ageMs, running }, RHYTHM, NOW), silent)
})

test("the fleet's own lease and poll decide", () => {
  const slow = { leaseMs: 600_000, pollMs: 300_000 }
  const worker = (running: number) => ({ heartbeatAt: NOW - 500_000, running })

  assert.equal(silentForMs(worker(1), slow, NOW), null)
  assert.equal(silentForMs(worker(0), slow, NOW), null)
  assert.equal(silentForMs(worker(0), { leaseMs: 100, pollMs: 1_000 }, NOW), 500_000)
})
