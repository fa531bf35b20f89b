import { assert, describe, test } from "vitest"
import { aDefinition, at, clock, firedAt, ledger, MADE_AT, thrownBy } from "../../../test/support/records.ts"
import { storedSchedule } from "../schedule/stored-schedule.ts"
import { DAY, HOUR, MINUTE, SECOND } from "../time/instant.ts"
import { defineSchedule, newSchedule, newScheduleDueNow } from "./definition.ts"
import type { RetryOptions, ScheduleOptions } from "./options.ts"
import { PRIORITY, RETRY } from "./policies.ts"

describe("defaults", () => {
  test("each option that isn't given has a default", () => {
    assert.deepEqual(aDefinition({ cron: "0 7 * * *" }), {
      task: "send",
      payload: null,
      triggers: [{ kind: "cron", cron: "0 7 * * *", dayMatch: "either" }],
      timezone: "UTC",
      dst: { gap: "after", overlap: "first" },
      priority: 0,
      jitterMs: 0,
      spacingMs: 0,
      startsAt: null,
      endsAt: null,
      maxRuns: null,
      removeWhenFinished: false,
      catchUp: { policy: "once", graceMs: MINUTE, windowMs: DAY, limit: 100 },
      overlap: { policy: "skip", limit: 1 },
      maxConcurrentRuns: null,
      dependsOn: [],
      retry: null,
      timeoutMs: null,
      enabled: true,
      tags: [],
      description: "",
      owner: null,
      release: 0,
    })
  })

  test("the missing members of a policy get their defaults", () => {
    const { dst, catchUp } = aDefinition({
      dst: { overlap: "both" },
      catchUp: { policy: "none", grace: "5m" },
    })

    assert.deepEqual(dst, { gap: "after", overlap: "both" })
    assert.deepEqual(catchUp, { policy: "none", graceMs: 5 * MINUTE, windowMs: DAY, limit: 100 })
  })

  test("a member that is undefined gets its default", () => {
    const dst = { gap: undefined, overlap: undefined } as unknown as NonNullable<ScheduleOptions["dst"]>

    assert.deepEqual(aDefinition({ dst }).dst, { gap: "after", overlap: "first" })
  })
})

describe("given options", () => {
  test("durations become milliseconds, and times become instants", () => {
    const definition = aDefinition({
      every: "90s",
      anchor: "2026-03-10T00:00:00Z",
      timezone: "Europe/Berlin",
      jitter: "10s",
      spacing: "1m",
      startsAt: new Date(at("09:00")),
      endsAt: at("10:00"),
      maxRuns: 5,
      overlap: { policy: "queue", limit: 7 },
      maxConcurrentRuns: 2,
      dependsOn: [{ schedule: "import", within: "1h" }],
      timeout: "5m",
      tags: ["a", "b"],
    })

    assert.deepInclude(definition, {
      triggers: [{ kind: "every", everyMs: 90 * SECOND, anchor: at("00:00") }],
      jitterMs: 10 * SECOND,
      spacingMs: MINUTE,
      startsAt: at("09:00"),
      endsAt: at("10:00"),
      overlap: { policy: "queue", limit: 7 },
      dependsOn: [{ scheduleId: "import", withinMs: HOUR }],
      timeoutMs: 5 * MINUTE,
      tags: ["a", "b"],
    })
  })

  test("endsAt may be before 1970, and a schedule may end at the instant it starts", () => {
    assert.equal(aDefinition({ endsAt: -1 }).endsAt, -1)
    assert.equal(aDefinition({ startsAt: at("09:00"), endsAt: at("09:00") }).endsAt, at("09:00"))
  })

  test("`in` counts from now", () => {
    assert.deepEqual(aDefinition({ in: "90m" }).triggers, [{ kind: "at", at: at("09:30") }])
  })

  test("several triggers are kept in their order", () => {
    const { triggers } = aDefinition({
      triggers: [
        { at: at("09:00") },
        { cron: "@daily", dayMatch: "both" },
        { cron: "@hourly", dayMatch: "either" },
      ],
    })

    assert.deepEqual(triggers, [
      { kind: "at", at: at("09:00") },
      { kind: "cron", cron: "@daily", dayMatch: "both" },
      { kind: "cron", cron: "@hourly", dayMatch: "either" },
    ])
  })

  test("a payload is copied, so that changing the original changes nothing", () => {
    const payload = { to: ["ada"] }
    const definition = aDefinition({}, { payload })

    payload.to.push("grace")

    assert.deepEqual(definition.payload, { to: ["ada"] })
  })
})

test.each([
  ["once", undefined, 1],
  ["all", undefined, 50],
  [{ policy: "all", limit: 7 }, undefined, 7],
  [{ policy: "all", limit: 7 }, 3, 3],
] as const)("with catchUp %j and an overlap limit of %s, the queue holds %d runs", (catchUp, limit, held) => {
  const overlap = limit === undefined ? "queue" : ({ policy: "queue", limit } as const)

  assert.deepEqual(aDefinition({ catchUp, overlap }).overlap, { policy: "queue", limit: held })
})

test.each([
  ["low", -10],
  ["normal", 0],
  ["high", 10],
  [-3, -3],
  [-0, 0],
  [1_000_000, 1_000_000],
] as const)("the priority %s is stored as %d", (priority, value) => {
  assert.equal(PRIORITY.read(priority, PLACE), value)
})

test.each([1.5, Number.NaN, 1_000_001, "toString"])("the priority %s is refused", (priority) => {
  assert.match(thrownBy(() => PRIORITY.read(priority, PLACE)).message, /^Task "t": retry is .*; use /)
})

const PLACE = { source: { code: "BELFRY_TASK_INVALID", subject: 'Task "t"' }, option: "retry" } as const
const defineRetry = (options: RetryOptions) => RETRY.read(options, PLACE)

describe("retry", () => {
  test("the default is 3 attempts with exponential delays from 5 s up to 1 hour and a jitter of 0.25", () => {
    assert.deepEqual(defineRetry({}), {
      attempts: 3,
      backoff: "exponential",
      baseMs: 5 * SECOND,
      maxMs: HOUR,
      jitter: 0.25,
    })
  })

  test("a first delay above the default maximum delay raises the maximum, unless maxDelay is given", () => {
    assert.equal(defineRetry({ delay: "3h" }).maxMs, 3 * HOUR)
    assert.equal(defineRetry({ delay: "3h", maxDelay: "2h" }).maxMs, 2 * HOUR)
  })

  test.each([
    [{ attempts: 0 }, 'Task "t": retry.attempts is 0; use a whole number from 1 to 1000.'],
    [{ attempts: 1_001 }, 'Task "t": retry.attempts is 1001; use a whole number from 1 to 1000.'],
    [{ attempts: 2.5 }, 'Task "t": retry.attempts is 2.5; use a whole number from 1 to 1000.'],
    [{ jitter: 1.1 }, 'Task "t": retry.jitter is 1.1; use a number from 0 to 1.'],
    [{ jitter: Number.NaN }, 'Task "t": retry.jitter is NaN; use a number from 0 to 1.'],
    [
      { backoff: "random" as "fixed" },
      'Task "t": retry.backoff is "random"; use "exponential", "linear" or "fixed".',
    ],
  ])("the retry policy %o is refused", (given, message) => {
    const error = thrownBy(() => defineRetry(given))

    assert.equal(error.code, "BELFRY_TASK_INVALID")
    assert.equal(error.message, message)
  })
})

describe("new schedules", () => {
  test("a new schedule is planned from now and has fired nothing", () => {
    const schedule = newSchedule("report", aDefinition(), at("08:20"))

    assert.deepInclude(schedule, { id: "report", revision: 1, createdAt: at("08:20") })
    assert.deepInclude(schedule, { firedCount: 0, finishedAt: null, declaredAs: null })
    assert.equal(clock(schedule.nextRunAt), "09:00")
    assert.equal(clock(schedule.coveredUntil), "08:20")
  })

  test("the first occurrence of an interval is one interval after the schedule was made", () => {
    assert.equal(clock(newSchedule("report", aDefinition({ every: "10m" }), at("08:20")).nextRunAt), "08:30")
  })

  test("a disabled new schedule has no next run", () => {
    assert.isNull(newSchedule("report", aDefinition({ enabled: false }), MADE_AT).nextRunAt)
  })

  test("a new one-time schedule for now is due now", () => {
    const schedule = newSchedule("report", aDefinition({ in: 0 }), MADE_AT)

    assert.equal(schedule.nextRunAt, MADE_AT)
    assert.deepEqual(ledger(firedAt(storedSchedule(schedule, 1), MADE_AT).runs), ["08:00 schedule"])
  })

  test("a new schedule with one trigger for now is due now", () => {
    const definition = aDefinition({ triggers: [{ every: "1h" }, { in: 0 }] })

    assert.equal(newSchedule("report", definition, MADE_AT).nextRunAt, MADE_AT)
  })

  test("a new one-time schedule in the past is finished and fires nothing", () => {
    assert.deepInclude(newSchedule("report", aDefinition({ at: at("07:00") }), MADE_AT), {
      nextRunAt: null,
      finishedAt: MADE_AT,
    })
  })
})

test("a new schedule with startImmediately is due now, even if its only time is past", () => {
  const schedule = newScheduleDueNow("report", aDefinition({ at: at("07:00") }), MADE_AT)

  assert.deepInclude(schedule, { nextRunAt: MADE_AT, coveredUntil: MADE_AT - 1, finishedAt: null })
  assert.deepEqual(schedule.overrides, [
    { scheduledFor: MADE_AT, dueAt: MADE_AT, reason: "Started immediately", by: null },
  ])
})

test("the same options and context always make the same definition", () => {
  const context = { id: "a", task: "t", payload: { b: 1 }, owner: "o", release: 2, now: null }

  assert.deepEqual(defineSchedule({ cron: "@daily" }, context), defineSchedule({ cron: "@daily" }, context))
})
