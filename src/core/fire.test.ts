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
} from "../../test/support/records.ts"
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

  test("progress goes on with the run: its id, the time, the count, the next occurrence", () => {
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

  test("before its time nothing happens", () => {
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

  test("what an operator said about a settled occurrence is forgotten, the rest is kept", () => {
    const left = (time: string) => ({ scheduledFor: at(time), dueAt: null, reason: null, by: null })

    const { schedule } = firedAt(aSchedule({}, { overrides: [left("09:00"), left("11:00")] }), at("09:00"))

    assert.deepEqual(schedule.overrides, [left("11:00")])
  })

  test("two nodes that read the same schedule make the same plan", () => {
    const schedule = aSchedule({ jitter: "5m" })

    assert.deepEqual(
      planFire(schedule, NO_FACTS, at("09:30")),
      planFire(structuredClone(schedule), NO_FACTS, at("09:30")),
    )
  })

  test("a store's clock that was set back fires nothing again", () => {
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
  ])("a run of %o says which trigger it was: %s", (options, trigger) => {
    const { runs } = firedAt(aSchedule(options), at("09:00"))

    assert.equal(runs.at(-1)?.trigger, trigger)
  })

  test("with several triggers a run names the one that matched", () => {
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

  test("the last of maxRuns finishes the schedule", () => {
    const { schedule, runs } = firedAt(aSchedule({ maxRuns: 2 }), at("09:00"), at("10:00"), at("11:00"))

    assert.deepEqual(ledger(runs), ["09:00 schedule", "10:00 schedule"])
    assert.deepInclude(schedule, { nextRunAt: null, firedCount: 2, finishedAt: at("10:00") })
  })

  test("catching up on more than maxRuns leaves makes the oldest of them", () => {
    const schedule = aSchedule({ maxRuns: 2, catchUp: "all", overlap: "allow" })

    assert.deepEqual(ledger(firedAt(schedule, at("13:00")).runs), ["09:00 catchup", "10:00 catchup"])
  })

  test("an occurrence that was kept back doesn't use up a run, and the ones after it are still recorded", () => {
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

  test("nothing fires after endsAt, and an occurrence exactly there does", () => {
    const { schedule, runs } = firedAt(aSchedule({ endsAt: at("10:00") }), at("09:00"), at("10:00"))

    assert.deepEqual(ledger(runs), ["09:00 schedule", "10:00 schedule"])
    assert.equal(schedule.finishedAt, at("10:00"))
  })

  test("nothing fires before startsAt, and an occurrence exactly there does", () => {
    const schedule = aSchedule({ startsAt: at("10:00") })

    assert.equal(clock(schedule.nextRunAt), "10:00")
    assert.deepEqual(ledger(firedAt(schedule, at("09:00"), at("10:00")).runs), ["10:00 schedule"])
  })

  test("a schedule that asked for it is deleted with its last run", () => {
    const schedule = aSchedule({ at: at("09:15"), removeWhenFinished: true })

    const plan = planFire(schedule, NO_FACTS, at("09:15"))

    assert.equal(plan.progress, null)
    assert.deepEqual(ledger(plan.runs), ["09:15 schedule"])
  })

  test("it is not deleted while something is to come", () => {
    assert.notEqual(planFire(aSchedule({ removeWhenFinished: true }), NO_FACTS, at("09:00")).progress, null)
  })

  test("a finished schedule stays finished at the time it finished", () => {
    const { schedule } = firedAt(aSchedule({ maxRuns: 1 }), at("09:00"))

    assert.equal(progressAfter(planFire(schedule, NO_FACTS, at("15:00"))).finishedAt, at("09:00"))
  })
})

describe("what keeps a schedule from firing", () => {
  test("a disabled schedule is due never and keeps its place", () => {
    const schedule = aSchedule({ enabled: false }, { nextRunAt: at("09:00") })

    const plan = planFire(schedule, NO_FACTS, at("09:00"))

    assert.deepEqual(plan.runs, [])
    assert.equal(progressAfter(plan).nextRunAt, null)
    assert.equal(progressAfter(plan).coveredUntil, schedule.coveredUntil)
  })

  test.each([
    ["a cron", { triggers: [{ kind: "cron", cron: "0 25 * * *", dayMatch: "either" }] }, /out of range/],
    ["a cron that is missing", { triggers: [{ kind: "cron", dayMatch: "either" }] }, /"cron": text/],
    ["a time zone", { timezone: "Mars/Olympus" }, /Time zone "Mars\/Olympus" is unknown/],
    ["a kind of trigger", { triggers: [{ kind: "moon" }] }, /"moon".* can't be read/],
    ["an interval", { triggers: [{ kind: "every", everyMs: -5, anchor: null }] }, /can't be read/],
  ])(
    "%s that was written past the door is told on the schedule, and nothing else changes",
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

  test("once it can be planned again the error is gone", () => {
    const plan = planFire(aSchedule({}, { lastError: "was wrong" }), NO_FACTS, at("09:00"))

    assert.equal(progressAfter(plan).lastError, null)
  })
})
