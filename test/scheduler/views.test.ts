import assert from "node:assert/strict"
import { test } from "vitest"
import { scheduleView } from "../../src/scheduler/views.ts"
import { aSchedule } from "../support/records.ts"

test("a schedule with edits by SQL that no plan has settled yet is shown without them", () => {
  const stored = aSchedule({ cron: "0 * * * *" })
  const edited = { ...stored, edits: [{ at: 0, by: "integrator", was: stored }] }

  assert.deepEqual(scheduleView(edited, new Set(), 0), scheduleView(stored, new Set(), 0))
})
