import assert from "node:assert/strict"
import { test } from "vitest"
import { aRun, aStoredSchedule } from "../../store/laws/factories.ts"
import type { Attempt, Run } from "../run/run.ts"
import { unreadableRun, unreadableSchedule } from "./damaged-records.ts"
import { assertValidRun, assertValidSchedule, DATE_MAX } from "./valid-records.ts"

const SCHEDULE = aStoredSchedule()
const { delayMs: _, notBefore: __, ...REQUEST } = aRun()
const RUN: Run = { ...unreadableRun({ id: "r" }, ""), ...REQUEST, error: null }

const ANYTHING = [undefined, null, true, 7, -1, 1.5, 1e300, Number.NaN, "x", [], [null], {}] as const

/** For each kind, the values of ANYTHING that are valid. */
const FITTING: Readonly<Record<string, readonly unknown[]>> = {
  text: ["x"],
  "text or null": [null, "x"],
  count: [7],
  whole: [7, -1],
  "count or null": [null, 7],
  "whole or null": [null, 7, -1],
  number: [7, -1, 1.5, 1e300],
  "number or null": [null, 7, -1, 1.5, 1e300],
  instant: [7, -1, 1.5],
  "instant or null": [null, 7, -1, 1.5],
  "planned or null": [null, 7, -1],
  flag: [true],
  json: ANYTHING.slice(1),
  list: [[]],
  "object or null": [null],
  object: [],
}

test.each([
  ["version", "count"],
  ["revision", "count"],
  ["createdAt", "planned or null"],
  ["updatedAt", "instant"],
  ["declaredAs", "text or null"],
  ["task", "text"],
  ["payload", "json"],
  ["triggers", "list"],
  ["timezone", "text"],
  ["dst", "object"],
  ["priority", "whole"],
  ["jitterMs", "number"],
  ["spacingMs", "number"],
  ["startsAt", "instant or null"],
  ["endsAt", "instant or null"],
  ["maxRuns", "count or null"],
  ["removeWhenFinished", "flag"],
  ["catchUp", "object"],
  ["overlap", "object"],
  ["maxConcurrentRuns", "count or null"],
  ["dependsOn", "list"],
  ["retry", "object or null"],
  ["timeoutMs", "number or null"],
  ["enabled", "flag"],
  ["tags", "list"],
  ["description", "text"],
  ["owner", "text or null"],
  ["release", "number"],
  ["nextRunAt", "planned or null"],
  ["coveredUntil", "planned or null"],
  ["overrides", "list"],
  ["paused", "object or null"],
  ["lastError", "text or null"],
  ["finishedAt", "instant or null"],
  ["runCount", "count"],
  ["lastRunId", "text or null"],
  ["lastRunAt", "instant or null"],
])("the field %s of a schedule must be %s", (name, kind) => {
  assertValidSchedule(SCHEDULE)
  for (const value of ANYTHING) {
    const damaged = { ...SCHEDULE, [name]: value }
    if (FITTING[kind]!.some((fitting) => same(fitting, value))) {
      assertValidSchedule(damaged)
    } else {
      assert.throws(() => assertValidSchedule(damaged), new RegExp(name), `${name}: ${String(value)}`)
      assertValidSchedule(unreadableSchedule(damaged, "why"))
    }
  }
})

test.each([
  ["task", "text"],
  ["payload", "json"],
  ["priority", "whole"],
  ["scheduleId", "text or null"],
  ["scheduledFor", "instant or null"],
  ["triggeredBy", "text"],
  ["trigger", "text or null"],
  ["missed", "object or null"],
  ["liveKey", "text or null"],
  ["concurrencyKey", "text or null"],
  ["concurrencyLimit", "whole or null"],
  ["retry", "object or null"],
  ["timeoutMs", "number or null"],
  ["reason", "text or null"],
  ["by", "text or null"],
  ["state", "object"],
  ["claimableAt", "instant or null"],
  ["attempt", "count"],
  ["failures", "count"],
  ["lost", "count"],
  ["workerId", "text or null"],
  ["createdAt", "instant"],
  ["dueAt", "instant or null"],
  ["startedAt", "instant or null"],
  ["completedAt", "instant or null"],
  ["message", "text or null"],
  ["details", "json"],
  ["error", "text or null"],
  ["progress", "object or null"],
  ["attempts", "list"],
])("the field %s of a run must be %s", (name, kind) => {
  assertValidRun(RUN)
  for (const value of ANYTHING) {
    const damaged = { ...RUN, [name]: value } as Run
    if (FITTING[kind]!.some((fitting) => same(fitting, value))) {
      assertValidRun(damaged)
    } else {
      assert.throws(() => assertValidRun(damaged), new RegExp(name), `${name}: ${String(value)}`)
      assertValidRun(unreadableRun(damaged, "why"))
    }
  }
})

test.each([
  ["missed", { from: 0, until: 1, count: 2 }],
  ["retry", { attempts: 3, backoff: "fixed", baseMs: 1, maxMs: 1, jitter: 0 }],
  ["progress", { fraction: 0.5, message: null }],
])("every member of %s is checked", (name, value) => {
  assertValidRun({ ...RUN, [name]: value })
  for (const part of Object.keys(value)) {
    assert.throws(() => assertValidRun({ ...RUN, [name]: { ...value, [part]: {} } } as Run), new RegExp(part))
  }
})

test("every member of an attempt is checked", () => {
  const attempt: Attempt = {
    attempt: 1,
    workerId: "w",
    dueAt: 0,
    startedAt: 0,
    endedAt: 1,
    outcome: "failed",
    error: null,
  }
  assertValidRun({ ...RUN, attempts: [attempt] })
  for (const part of Object.keys(attempt)) {
    const attempts = [attempt, { ...attempt, [part]: {} }]
    assert.throws(() => assertValidRun({ ...RUN, attempts } as Run), new RegExp(part))
  }
})

test.each([
  ["payload", undefined, "is missing, which is not JSON"],
  ["details", undefined, "is missing, which is not JSON"],
  ["state", "lost", 'is "lost", which is not one of the six states'],
  ["missed", [1], "is [1], which is not an object of from, until, count"],
  ["attempts", "x".repeat(100), `is "${"x".repeat(79)}, which is not a list`],
  ["task", null, "is null, which is not text"],
  ["by", 7, "is 7, which is not text or null"],
  ["timeoutMs", Number.POSITIVE_INFINITY, "is Infinity, which is not a number"],
  ["priority", 1.5, "is 1.5, which is not a whole number"],
  ["attempt", -1, "is -1, which is not a whole number from 0"],
  ["createdAt", Number.NaN, "is NaN, which is not an instant"],
  ["createdAt", -1e300, "is -1e+300, which is not an instant"],
])(
  "when the field %s of a run is %s, the error has the value and the expected kind",
  (name, value, problem) => {
    const damaged = { ...RUN, [name]: value } as Run

    assert.throws(() => assertValidRun(damaged), new TypeError(`${name} ${problem}`))
  },
)

test.each([
  ["payload", undefined, "payload is missing, which is not JSON"],
  ["enabled", "yes", 'enabled is "yes", which is not true or false'],
  ["dependsOn", [{ withinMs: 1 }], "dependsOn.scheduleId is missing, which is not text"],
  ["dependsOn", [{ scheduleId: "a" }], "dependsOn.withinMs is missing, which is not a number"],
])(
  "when the field %s of a schedule is %j, the error has the value and the expected kind",
  (name, value, problem) => {
    assert.throws(() => assertValidSchedule({ ...SCHEDULE, [name]: value }), new TypeError(problem))
  },
)

test("a record that can't be read keeps all its readable fields", () => {
  const schedule = unreadableSchedule(
    { ...SCHEDULE, description: "mine", version: 5, tags: 7 as never },
    "why",
  )
  const run = unreadableRun({ ...RUN, payload: { a: 1 }, attempts: 7 as never }, "why")

  assert.deepEqual([schedule.description, schedule.version, schedule.tags], ["mine", 5, []])
  assert.deepEqual([schedule.lastError, schedule.triggers], ["why", [{ kind: "unreadable", why: "why" }]])
  assert.deepEqual([run.payload, run.attempts, run.error], [{ a: 1 }, [], "why"])
})

test("an unreadable run keeps its own error", () => {
  assert.equal(unreadableRun({ id: "r", error: "It failed", attempts: 7 as never }, "why").error, "It failed")
})

test.each([
  [1e300, DATE_MAX],
  ["9007199254740993", DATE_MAX],
  [-1e300, -DATE_MAX],
  ["x", 0],
])(
  "an unreadable run created at %s gets a createdAt that keeps its place in a sorted list",
  (createdAt, kept) => {
    assert.equal(unreadableRun({ id: "r", createdAt: createdAt as number }, "why").createdAt, kept)
  },
)

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b) && typeof a === typeof b
}
