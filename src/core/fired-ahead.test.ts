import assert from "node:assert/strict"
import { test } from "vitest"
import { CLOCK_TOLERANCE_MS, firedAhead } from "./fired-ahead.ts"

const NOW = Date.UTC(2026, 0, 1)

test.each([
  ["never", null, false],
  ["before now", NOW - 1, false],
  ["as late as clocks may differ", NOW + CLOCK_TOLERANCE_MS, false],
  ["later than that", NOW + CLOCK_TOLERANCE_MS + 1, true],
  ["later than that, as a date", new Date(NOW + CLOCK_TOLERANCE_MS + 1), true],
])("a schedule that last fired %s", (_when, lastRunAt, isAhead) => {
  const schedule = { id: "s", lastRunAt }

  assert.deepEqual(firedAhead([schedule], NOW), isAhead ? [schedule] : [])
})
