import assert from "node:assert/strict"
import { test } from "vitest"
import { aStoredSchedule } from "../../store/laws/factories.ts"
import { planOf } from "./plan.ts"
import { createdEntry, deletedEntry, steeredEntry, updatedEntry } from "./schedule-journal.ts"

const WHY = { by: "ann", reason: "holiday" }
const stored = aStoredSchedule({
  id: "nightly",
  version: 7,
  payload: { a: 1 },
  tags: ["x"],
  nextRunAt: 1_000,
})

test("the journal entry of an update has only the changed fields", () => {
  const edited = { ...stored, payload: { a: 2 }, description: "new", version: 8 }
  assert.deepEqual(updatedEntry(stored, edited, WHY), {
    id: "schedule nightly 7",
    ...{ action: "updated", subject: "schedule", subjectId: "nightly", ...WHY },
    before: { payload: { a: 1 }, description: "" },
    after: { payload: { a: 2 }, description: "new" },
  })
})

test("an update that changes nothing makes no journal entry", () => {
  assert.equal(updatedEntry(stored, { ...stored, revision: 2, release: 9 }, WHY), undefined)
})

test("the journal entry of an operation has the changed fields of the schedule's progress", () => {
  const paused = { at: 5, until: null, reason: "holiday", by: "ann" }
  const plan = planOf(stored, { paused, nextRunAt: null, coveredUntil: 3 })
  const { before, after, action } = steeredEntry("paused", stored, plan, WHY)
  assert.equal(action, "paused")
  assert.deepEqual(before, { nextRunAt: 1_000, paused: null })
  assert.deepEqual(after, { nextRunAt: null, paused })
})

test("the journal entry of a created or deleted schedule has all its fields", () => {
  const { id, before, after } = createdEntry(stored, WHY)
  assert.equal(before, null)
  assert.deepEqual(
    [(after as { task: string }).task, id.startsWith("schedule nightly created ")],
    ["report", true],
  )
  assert.deepEqual(deletedEntry(stored, WHY).before, after)
  assert.equal(deletedEntry(stored, WHY).after, null)
})

test("different steps have journal entries with different ids", () => {
  const ids = [
    createdEntry(stored, WHY),
    updatedEntry(stored, { ...stored, enabled: false }, WHY)!,
    deletedEntry({ ...stored, version: 8 }, WHY),
    deletedEntry({ ...stored, id: "nightly 8", version: 1 }, WHY),
  ].map(({ id }) => id)
  assert.equal(new Set(ids).size, 4)
})

test("a journal entry has the length of a very long value instead of the value", () => {
  const long = { ...stored, payload: "x".repeat(100_000) }
  assert.match(String((createdEntry(long, WHY).after as { payload: string }).payload), /^\(100002 characters/)
})
