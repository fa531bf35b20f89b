import assert from "node:assert/strict"
import { test } from "vitest"
import { CLOCK_TOLERANCE_MS, withLastRunInFuture } from "./last-run-in-future.ts"

const NOW = Date.UTC(2026, 0, 1)

test.each([
  ["that never happened", null, false],
  ["before now", NOW - 1, false],
  ["later than now, within the clock tolerance", NOW + CLOCK_TOLERANCE_MS, false],
  ["later than now by more than the clock tolerance", NOW + CLOCK_TOLERANCE_MS + 1, true],
  ["later than the clock tolerance allows, given as a Date", new Date(NOW + CLOCK_TOLERANCE_MS + 1), true],
])("a last run %s (%s) is in the future: %s", (_when, lastRunAt, isInFuture) => {
  const schedule = { id: "s", lastRunAt }

  assert.deepEqual(withLastRunInFuture([schedule], NOW), isInFuture ? [schedule] : [])
})
