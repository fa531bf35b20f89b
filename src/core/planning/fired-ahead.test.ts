import assert from "node:assert/strict"
import { test } from "vitest"
import { CLOCK_TOLERANCE_MS, firedAhead } from "./fired-ahead.ts"

const NOW = Date.UTC(2026, 0, 1)

test.each([
  ["never", null, false],
  ["before now", NOW - 1, false],
  ["later than now, within the clock tolerance", NOW + CLOCK_TOLERANCE_MS, false],
  ["later than now by more than the clock tolerance", NOW + CLOCK_TOLERANCE_MS + 1, true],
  ["later than the clock tolerance allows, given as a Date", new Date(NOW + CLOCK_TOLERANCE_MS + 1), true],
])("for a schedule that last fired %s (%s), fired ahead is %s", (_when, lastRunAt, isAhead) => {
  const schedule = { id: "s", lastRunAt }

  assert.deepEqual(firedAhead([schedule], NOW), isAhead ? [schedule] : [])
})
