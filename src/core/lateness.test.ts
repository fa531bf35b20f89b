import assert from "node:assert/strict"
import { test } from "vitest"
import { latenessMs } from "./lateness.ts"

test.each([
  { what: "counts from the instant at which the run was due", dueAt: 900, startedAt: 950, lateMs: 50 },
  { what: "is nothing at that very instant", dueAt: 900, startedAt: 900, lateMs: 0 },
  {
    what: "counts from the end of the attempt before, if the run was held until then",
    endedAt: 930,
    lateMs: 20,
  },
  { what: "is not shortened by an attempt that ended before", endedAt: 800, lateMs: 50 },
  { what: "is never negative, also if the clock was set back", endedAt: 2_000, lateMs: 0 },
])("lateness $what", ({ dueAt = 900, startedAt = 950, endedAt, lateMs }) => {
  const previous = endedAt === undefined ? undefined : { endedAt }

  assert.equal(latenessMs({ dueAt, startedAt }, previous), lateMs)
})
