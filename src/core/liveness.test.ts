import assert from "node:assert/strict"
import { test } from "vitest"
import { nextBeatInMs, silentForMs } from "./liveness.ts"

const NOW = 1_000_000

test.each([
  ["has just beaten", 0, 30_000, null],
  ["is expected at this very instant", 30_000, 30_000, null],
  ["is a moment late", 30_001, 30_000, 30_001],
  ["fell silent long ago", 500_000, 90_000, 500_000],
])("a worker that %s", (_what, ageMs, nextInMs, silent) => {
  const heartbeatAt = NOW - ageMs
  assert.equal(silentForMs({ heartbeatAt, expectedBy: heartbeatAt + nextInMs }, NOW), silent)
})

test("a worker that holds runs is missed when their leases have ended, an idle one a poll later", () => {
  const rhythm = { leaseMs: 30_000, pollMs: 60_000 }
  assert.equal(nextBeatInMs(rhythm, true), 30_000)
  assert.equal(nextBeatInMs(rhythm, false), 90_000)
})
