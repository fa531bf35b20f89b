import assert from "node:assert/strict"
import { test } from "vitest"
import { nextBeatInMs, silentForMs } from "./worker-liveness.ts"

const NOW = 1_000_000

test.each([
  ["sent a heartbeat just now", 0, 30_000, null],
  ["is expected to send a heartbeat now", 30_000, 30_000, null],
  ["is 1 ms late", 30_001, 30_000, 30_001],
  ["has been silent for long", 500_000, 90_000, 500_000],
])("for a worker that %s (heartbeat %d ms ago, expected within %d ms), silentForMs is %s", (...given) => {
  const [, ageMs, nextInMs, silent] = given
  const heartbeatAt = NOW - ageMs
  assert.equal(silentForMs({ heartbeatAt, expectedBy: heartbeatAt + nextInMs }, NOW), silent)
})

test("a worker with runs is expected again within its lease, and an idle worker within its lease and one poll", () => {
  const rhythm = { leaseMs: 30_000, pollMs: 60_000 }
  assert.equal(nextBeatInMs(rhythm, true), 30_000)
  assert.equal(nextBeatInMs(rhythm, false), 90_000)
})
