import assert from "node:assert/strict"
import { test } from "vitest"
import { scheduleView } from "../../src/scheduler/views.ts"
import { aSchedule } from "../support/records.ts"

test("the view of a schedule doesn't contain edits by SQL that are not planned yet", () => {
  const stored = aSchedule({ cron: "0 * * * *" })
  const edited = { ...stored, edits: [{ at: 0, by: "integrator", was: stored }] }

  assert.deepEqual(scheduleView(edited, new Set(), 0), scheduleView(stored, new Set(), 0))
})

test("the problems of a schedule written by SQL say why it can't be planned before any process has planned it", () => {
  const triggers = [{ kind: "cron", cron: "0 25 * * *", dayMatch: "either" }] as const

  const { lastError, problems } = scheduleView({ ...aSchedule({}), triggers }, new Set(), 0)

  assert.match(lastError!, /Hour "25" is out of range/)
  assert.deepEqual(problems, [{ kind: "broken", message: lastError }])
})
