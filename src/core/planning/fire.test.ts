import { assert, describe, test } from "vitest"
import {
  applied,
  aSchedule,
  at,
  clock,
  firedAt,
  ledger,
  MADE_AT,
  progressAfter,
} from "../../../test/support/records.ts"
import { planFire } from "./fire.ts"
import { NO_FACTS } from "./plan.ts"

describe("firing on time", () => {
  test("a schedule that was never planned is planned from now and fires nothing", () => {
    const schedule = aSchedule({}, { coveredUntil: null, nextRunAt: null })

    const plan = planFire(schedule, NO_FACTS, at("12:30"))

    assert.deepEqual(plan.runs, [])
    assert.equal(clock(progressAfter(plan).coveredUntil), "12:30")
    assert.equal(clock(progressAfter(plan).nextRunAt), "13:00")
  })

  test("a due occurrence becomes one run, named after the schedule and the occurrence", () => {
    const plan = planFire(aSchedule({ priority: "high" }), NO_FACTS, at("09:00:00.004"))

    assert.equal(plan.runs.length, 1)
    assert.deepInclude(plan.runs[0], {
      id: "report@2026-03-10T09:00:00Z",
      task: "send",
      scheduleId: "report",
      scheduledFor: at("09:00"),
      notBefore: at("09:00"),
      triggeredBy: "schedule",
      trigger: "schedule:0 * * * *",
      missed: null,
      state: "pending",
      priority: 10,
    })
  })

  test("the progress has the count of fired runs, the covered time and the next run", () => {
    const plan = planFire(aSchedule({}, { firedCount: 4 }), NO_FACTS, at("09:00:01"))

    assert.deepEqual(plan.progress, {
      nextRunAt: at("10:00"),
      coveredUntil: at("09:00"),
      overrides: [],
      paused: null,
      firedCount: 5,
      lastError: null,
      finishedAt: null,
    })
    assert.deepInclude(plan, { scheduleId: "report", ifVersion: 7, cancels: [] })
  })

  test("a schedule that isn't due yet fires nothing", () => {
    const schedule = aSchedule()

    const plan = planFire(schedule, NO_FACTS, at("08:59:59.999"))

    assert.deepEqual(plan.runs, [])
    assert.equal(plan.progress?.coveredUntil, MADE_AT)
    assert.equal(clock(progressAfter(plan).nextRunAt), "09:00")
  })

  test("planning again after the plan was applied fires nothing", () => {
    const schedule = aSchedule()
    const after = applied(schedule, planFire(schedule, NO_FACTS, at("09:00")))

    assert.deepEqual(planFire(after, NO_FACTS, at("09:00")).runs, [])
  })

  test("overrides of settled occurrences are removed, and the others are kept", () => {
    const skipped = (time: string) => ({ scheduledFor: at(time), dueAt: null, reason: null, by: null })

    const { schedule } = firedAt(
      aSchedule({}, { overrides: [skipped("09:00"), skipped("11:00")] }),
      at("09:00"),
    )

    assert.deepEqual(schedule.overrides, [skipped("11:00")])
  })

  test("two processes that read the same schedule make the same plan", () => {
    const schedule = aSchedule({ jitter: "5m" })

    assert.deepEqual(
      planFire(schedule, NO_FACTS, at("09:30")),
      planFire(structuredClone(schedule), NO_FACTS, at("09:30")),
    )
  })

  test("after the store's clock was set back, nothing is fired twice", () => {
    const { schedule } = firedAt(aSchedule(), at("09:00"), at("10:00"))

    const plan = planFire(schedule, NO_FACTS, at("09:30"))

    assert.deepEqual(plan.runs, [])
    assert.equal(clock(progressAfter(plan).coveredUntil), "10:00")
    assert.equal(clock(progressAfter(plan).nextRunAt), "11:00")
  })

  test.each([
    [{ every: "15m" } as const, "schedule:@every 15m"],
    [{ at: "2026-03-10T08:15:00Z" } as const, "schedule:@at 2026-03-10T08:15:00Z"],
    [{ cron: "@hourly" } as const, "schedule:@hourly"],
  ])("a run of a schedule with %o has the trigger %s", (options, trigger) => {
    const { runs } = firedAt(aSchedule(options), at("09:00"))

    assert.equal(runs.at(-1)?.trigger, trigger)
  })

  test("a run of a schedule with several triggers names the trigger that matched", () => {
    const schedule = aSchedule({ triggers: [{ cron: "0 * * * *" }, { cron: "20 * * * *" }] })

    const { runs } = firedAt(schedule, at("08:20"), at("09:00"))

    assert.deepEqual(
      runs.map((run) => run.trigger),
      ["schedule:20 * * * *", "schedule:0 * * * *"],
    )
  })
})

describe("the end of a schedule", () => {
  test("a one-time schedule fires once and is finished", () => {
    const { schedule, runs } = firedAt(aSchedule({ at: "2026-03-10T09:15:00Z" }), at("09:15"))

    assert.deepEqual(ledger(runs), ["09:15 schedule"])
    assert.equal(schedule.nextRunAt, null)
    assert.equal(clock(schedule.finishedAt), "09:15")
  })

  test("the run that reaches maxRuns finishes the schedule", () => {
    const { schedule, runs } = firedAt(aSchedule({ maxRuns: 2 }), at("09:00"), at("10:00"), at("11:00"))

    assert.deepEqual(ledger(runs), ["09:00 schedule", "10:00 schedule"])
    assert.deepInclude(schedule, { nextRunAt: null, firedCount: 2, finishedAt: at("10:00") })
  })

  test("if more occurrences are owed than maxRuns allows, the oldest of them become runs", () => {
    const schedule = aSchedule({ maxRuns: 2, catchUp: "all", overlap: "allow" })

    assert.deepEqual(ledger(firedAt(schedule, at("13:00")).runs), ["09:00 catchup", "10:00 catchup"])
  })

  test("a skipped occurrence doesn't count towards maxRuns, and the occurrences after it are still recorded", () => {
    const schedule = aSchedule({
      maxRuns: 1,
      catchUp: "all",
      overlap: "allow",
      dependsOn: [{ schedule: "import", within: "1h" }],
    })

    const { schedule: after, runs } = firedAt(schedule, at("11:00"))

    assert.deepEqual(ledger(runs), [
      "09:00 skipped dependency",
      "10:00 skipped dependency",
      "11:00 skipped dependency",
    ])
    assert.equal(clock(after.nextRunAt), "12:00")
  })

  test("an occurrence exactly at endsAt fires, and none fires after it", () => {
    const { schedule, runs } = firedAt(aSchedule({ endsAt: at("10:00") }), at("09:00"), at("10:00"))

    assert.deepEqual(ledger(runs), ["09:00 schedule", "10:00 schedule"])
    assert.equal(schedule.finishedAt, at("10:00"))
  })

  test("an occurrence exactly at startsAt fires, and none fires before it", () => {
    const schedule = aSchedule({ startsAt: at("10:00") })

    assert.equal(clock(schedule.nextRunAt), "10:00")
    assert.deepEqual(ledger(firedAt(schedule, at("09:00"), at("10:00")).runs), ["10:00 schedule"])
  })

  test("a schedule with removeWhenFinished is deleted when its last run is made", () => {
    const schedule = aSchedule({ at: at("09:15"), removeWhenFinished: true })

    const plan = planFire(schedule, NO_FACTS, at("09:15"))

    assert.equal(plan.progress, null)
    assert.deepEqual(ledger(plan.runs), ["09:15 schedule"])
  })

  test("a schedule with removeWhenFinished isn't deleted while occurrences remain", () => {
    assert.notEqual(planFire(aSchedule({ removeWhenFinished: true }), NO_FACTS, at("09:00")).progress, null)
  })

  test("finishedAt of a finished schedule doesn't change", () => {
    const { schedule } = firedAt(aSchedule({ maxRuns: 1 }), at("09:00"))

    assert.equal(progressAfter(planFire(schedule, NO_FACTS, at("15:00"))).finishedAt, at("09:00"))
  })
})

describe("schedules that can't fire", () => {
  test("a disabled schedule has no next run and keeps its coveredUntil", () => {
    const schedule = aSchedule({ enabled: false }, { nextRunAt: at("09:00") })

    const plan = planFire(schedule, NO_FACTS, at("09:00"))

    assert.deepEqual(plan.runs, [])
    assert.equal(progressAfter(plan).nextRunAt, null)
    assert.equal(progressAfter(plan).coveredUntil, schedule.coveredUntil)
  })

  test.each([
    [
      "an invalid cron",
      { triggers: [{ kind: "cron", cron: "0 25 * * *", dayMatch: "either" }] },
      /out of range/,
    ],
    ["a missing cron", { triggers: [{ kind: "cron", dayMatch: "either" }] }, /"cron": text/],
    ["an unknown time zone", { timezone: "Mars/Olympus" }, /Time zone "Mars\/Olympus" is unknown/],
    ["an unknown kind of trigger", { triggers: [{ kind: "moon" }] }, /"moon".* can't be read/],
    ["a negative interval", { triggers: [{ kind: "every", everyMs: -5, anchor: null }] }, /can't be read/],
  ])(
    "%s, written by SQL without our checks, sets lastError of the schedule and changes nothing else",
    (_, bad, message) => {
      const schedule = { ...aSchedule({}, { firedCount: 3 }), ...(bad as object) }

      const plan = planFire(schedule, NO_FACTS, at("09:00"))

      const { lastError, ...rest } = progressAfter(plan)
      assert.match(lastError!, message)
      assert.deepEqual(plan.runs, [])
      assert.deepEqual(rest, {
        nextRunAt: null,
        coveredUntil: MADE_AT,
        overrides: [],
        paused: null,
        firedCount: 3,
        finishedAt: null,
      })
    },
  )

  test("lastError is cleared when the schedule can be planned again", () => {
    const plan = planFire(aSchedule({}, { lastError: "was wrong" }), NO_FACTS, at("09:00"))

    assert.equal(progressAfter(plan).lastError, null)
  })
})
