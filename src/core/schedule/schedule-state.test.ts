import assert from "node:assert/strict"
import { test } from "vitest"
import { OVERDUE_AFTER_MS, type ScheduleState, type StateParts, scheduleStateOf } from "./schedule-state.ts"

const NOW = Date.parse("2026-03-01T12:00:00Z")
const PAUSE = { at: NOW, until: null, reason: null, by: null }
const OK: StateParts = {
  lastError: null,
  finishedAt: null,
  enabled: true,
  paused: null,
  nextRunAt: NOW + 1,
  failuresInARow: 0,
  lastRunAt: NOW - 1,
}

test.each<[ScheduleState, Partial<StateParts>]>([
  ["ok", {}],
  ["ok", { nextRunAt: NOW - OVERDUE_AFTER_MS }],
  ["ok", { nextRunAt: null }],
  ["new", { lastRunAt: null }],
  ["failing", { failuresInARow: 1 }],
  ["overdue", { nextRunAt: NOW - OVERDUE_AFTER_MS - 1 }],
  ["overdue", { nextRunAt: 0, failuresInARow: 1 }],
  ["overdue", { nextRunAt: 0, lastRunAt: null }],
  ["paused", { paused: PAUSE, nextRunAt: 0, failuresInARow: 1 }],
  ["disabled", { enabled: false, paused: PAUSE, nextRunAt: 0, failuresInARow: 1 }],
  ["finished", { finishedAt: NOW, enabled: false, paused: PAUSE, failuresInARow: 1 }],
  ["broken", { lastError: "No such zone", finishedAt: NOW, enabled: false, paused: PAUSE }],
])("the state is %s for a schedule with %j", (state, over) => {
  assert.equal(scheduleStateOf({ ...OK, ...over }, NOW), state)
})
