import { assert, test } from "vitest"
import { planFire } from "../planning/fire.ts"
import { NO_FACTS, planOf } from "../planning/plan.ts"
import { NO_PROGRESS, NO_RUNS } from "../schedule/schedule.ts"
import { endUnreadable, unreadableRun, unreadableSchedule } from "./damaged-records.ts"

const WHY = "payload is no JSON"

test("an unreadable schedule has its known fields, lastError with the reason, and empty values for the rest", () => {
  const schedule = unreadableSchedule({ id: "report", version: 7, task: "send", tags: ["a"] }, WHY)

  assert.deepEqual(schedule, {
    ...{ id: "report", version: 7, task: "send", tags: ["a"] },
    triggers: [{ kind: "unreadable", why: WHY }],
    ...{ revision: 1, createdAt: 0, updatedAt: 0, declaredAs: null, owner: null, release: 0 },
    ...{ payload: null, timezone: "UTC", dst: { gap: "after", overlap: "first" } },
    ...{ priority: 0, jitterMs: 0, spacingMs: 0, startsAt: null, endsAt: null, maxRuns: null },
    catchUp: { policy: "none", graceMs: 0, windowMs: 0, limit: 0 },
    overlap: { policy: "skip", limit: 0 },
    ...{ maxConcurrentRuns: null, dependsOn: [], retry: null, timeoutMs: null },
    ...{ enabled: true, removeWhenFinished: false, description: "" },
    ...NO_PROGRESS,
    ...NO_RUNS,
    lastError: WHY,
  })
  assert.deepInclude(unreadableSchedule({ id: "report", version: 7 }, WHY), { task: "", tags: [] })
})

test("invalid and unknown fields of an unreadable schedule are left out", () => {
  const known = { id: "report", version: 7, task: undefined, tags: 5, colour: "red" } as never

  assert.deepEqual(unreadableSchedule(known, WHY), unreadableSchedule({ id: "report", version: 7 }, WHY))
})

test("an unreadable schedule fires nothing and has no next run", () => {
  const schedule = unreadableSchedule({ id: "report", version: 7, nextRunAt: 5, coveredUntil: 0 }, WHY)

  assert.deepEqual(planFire(schedule, NO_FACTS, 10), planOf(schedule, { nextRunAt: null, lastError: WHY }))
})

test("an unreadable run has its known fields, an error with the reason, and empty values for the rest", () => {
  assert.deepEqual(unreadableRun({ id: "r1", task: "send", createdAt: 5, completedAt: null }, WHY), {
    ...{ id: "r1", task: "send", createdAt: 5, error: WHY, state: "failed", triggeredBy: "api" },
    ...{ payload: null, priority: 0, scheduleId: null, scheduledFor: null, parentId: null },
    ...{ trigger: null, missed: null },
    ...{ liveKey: null, concurrencyKey: null, concurrencyLimit: null, retry: null, timeoutMs: null },
    ...{ reason: null, by: null, claimableAt: null, attempt: 0, failures: 0, lost: 0, workerId: null },
    ...{ dueAt: null, startedAt: null, completedAt: null, message: null, details: null },
    ...{ progress: null, attempts: [] },
  })
  assert.equal(unreadableRun({ id: "r1" }, WHY).task, "")
})

test("an unreadable run fails without a retry in the attempt that claimed it", () => {
  assert.deepEqual(endUnreadable({ id: "r1", attempt: 3 }, WHY), {
    ...{ runId: "r1", ifState: "running", ifAttempt: 3 },
    ...{ state: "failed", claimableInMs: null, failures: 1, lost: 0, outcome: "failed" },
    ...{ message: null, details: null, error: WHY, reason: "unreadable", by: null, progress: null },
  })
})
