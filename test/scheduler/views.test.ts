import assert from "node:assert/strict"
import { test } from "vitest"
import { scheduleView } from "../../src/scheduler/views.ts"
import { aSchedule } from "../support/records.ts"

test("the view of a schedule doesn't contain edits by SQL that are not planned yet", () => {
  const stored = aSchedule({ cron: "0 * * * *" })
  const edited = { ...stored, edits: [{ at: 0, by: "integrator", was: stored }] }

  assert.deepEqual(scheduleView(edited, new Set(), 0), scheduleView(stored, new Set(), 0))
})
