import assert from "node:assert/strict"
import { test } from "vitest"
import { latenessMs } from "./lateness.ts"
import type { Attempt, AttemptOutcome } from "./run.ts"

const CREATED = 1_000_000
const NOMINAL = 900_000

function ended(outcome: AttemptOutcome, endedAt: number): Attempt {
  return { attempt: 1, workerId: "w", startedAt: CREATED, endedAt, outcome, error: null }
}

test.each([
  { what: "an occurrence counts from its nominal instant", by: "schedule", lateMs: 150_000 },
  { what: "a catch-up counts from its nominal instant", by: "catchup", lateMs: 150_000 },
  { what: "a backfilled run counts from its creation", by: "backfill", lateMs: 50_000 },
  { what: "a run by hand counts from its creation", by: "manual", lateMs: 50_000 },
  { what: "an enqueued run counts from its creation", by: "api", scheduledFor: null, lateMs: 50_000 },
  { what: "one that was moved earlier is never early", by: "schedule", scheduledFor: 9_000_000, lateMs: 0 },
  { what: "one given back is due at once", by: "schedule", after: "released", lateMs: 10_000 },
  { what: "a lost one is due when its lease ended", by: "schedule", after: "lost", lateMs: 10_000 },
  { what: "a back-off is not lateness", by: "schedule", after: "failed", lateMs: 0 },
  { what: "nor is one after a timeout", by: "api", after: "timeout", lateMs: 0 },
] as const)("lateness: $what", (given) => {
  const startedAt = 1_050_000
  const scheduledFor = "scheduledFor" in given ? given.scheduledFor : NOMINAL
  const attempts = "after" in given ? [ended(given.after, startedAt - 10_000)] : []

  const late = latenessMs({ triggeredBy: given.by, scheduledFor, createdAt: CREATED, attempts }, startedAt)

  assert.equal(late, given.lateMs)
})
