import assert from "node:assert/strict"
import { test } from "vitest"
import { latenessMs } from "./lateness.ts"

test.each([
  { rule: "counts from the instant at which the run was due", dueAt: 900, startedAt: 950, lateMs: 50 },
  { rule: "is 0 at the due instant", dueAt: 900, startedAt: 900, lateMs: 0 },
  {
    rule: "counts from the end of the previous attempt, if the run was held until then",
    endedAt: 930,
    lateMs: 20,
  },
  { rule: "is not shortened by an attempt that ended before the due instant", endedAt: 800, lateMs: 50 },
  { rule: "is never negative, also if the clock was set back", endedAt: 2_000, lateMs: 0 },
])("lateness $rule", ({ dueAt = 900, startedAt = 950, endedAt, lateMs }) => {
  const previous = endedAt === undefined ? undefined : { endedAt }

  assert.equal(latenessMs({ dueAt, startedAt }, previous), lateMs)
})
