import assert from "node:assert/strict"
import { test } from "vitest"
import { unreadableRun } from "../records/damaged-records.ts"
import type { Run } from "./run.ts"
import { SUMMARY_TEXT_MAX, summaryOf } from "./run-summary.ts"

function aStoredRun(over: Partial<Run>): Run {
  return { ...unreadableRun({ id: "r1" }, "nothing else is known of it"), ...over }
}

test("a summary has every field of its run except the fields that may be large", () => {
  const run = aStoredRun({ error: "short", message: null })

  const { payload: _payload, details: _details, attempts: _attempts, retry: _retry, ...rest } = run

  assert.deepEqual(summaryOf(run), rest)
})

test.each([
  ["of the maximum length", "x".repeat(SUMMARY_TEXT_MAX), SUMMARY_TEXT_MAX],
  ["above the maximum length", "x".repeat(SUMMARY_TEXT_MAX + 1), SUMMARY_TEXT_MAX],
  ["of surrogate pairs and of the maximum length", "😀".repeat(SUMMARY_TEXT_MAX), 2 * SUMMARY_TEXT_MAX],
  [
    "of surrogate pairs and above the maximum length",
    "😀".repeat(3 * SUMMARY_TEXT_MAX),
    2 * SUMMARY_TEXT_MAX,
  ],
])("an error %s is cut after a whole character", (_, error, length) => {
  const summary = summaryOf(aStoredRun({ error, message: error }))

  assert.equal(summary.error, error.slice(0, length))
  assert.equal(summary.message, error.slice(0, length))
})
