import { assert, describe, test } from "vitest"
import { aDefinition, applied, aSchedule, at, clock, ledger } from "../../../test/support/records.ts"
import type { NewRun } from "../run/run.ts"
import type { Schedule } from "../schedule/schedule.ts"
import { planFire, planSettle } from "./fire.ts"
import { nextToRunAt, occurrenceAfter, occurrenceBefore } from "./occurrence.ts"
import { type FireFacts, NO_FACTS, type Plan } from "./plan.ts"
import { redefine } from "./redefine.ts"
import { standInFor } from "./stand-in.ts"
import { move, pause, reschedule, restore, resume, skip } from "./steer.ts"

// The schedule is hourly. At 08:10 it is rescheduled to 12:30, so the occurrences of 09:00 to 12:00 are passed over.

const NOW = at("08:10")
const why = { reason: null, by: "ada" }

class History {
  schedule: Schedule
  readonly runs: NewRun[] = []

  constructor(schedule = aSchedule(), to = "12:30") {
    this.schedule = schedule
    this.apply(reschedule(schedule, at(to), why, NO_FACTS, NOW))
  }

  apply(plan: Plan | null): this {
    if (plan === null) return this
    this.runs.push(...plan.runs)
    this.schedule = applied(this.schedule, plan)
    return this
  }

  fire(...times: readonly string[]): this {
    for (const time of times) this.apply(planFire(this.schedule, NO_FACTS, at(time)))
    return this
  }

  get summary(): readonly string[] {
    return [...ledger(this.runs), `next ${clock(this.schedule.nextRunAt)}`]
  }
}

describe("occurrences passed over by a reschedule", () => {
  test("passed-over occurrences are recorded when the rescheduled one is due, not before", () => {
    const history = new History()

    assert.deepEqual(history.summary, ["next 12:30"])
    assert.deepEqual(history.fire("12:30", "13:00").summary, [
      "09:00-12:00 (4) skipped operator",
      "12:30 schedule",
      "13:00 schedule",
      "next 14:00",
    ])
  })

  test("passed-over instants are found neither by occurrenceAfter nor by occurrenceBefore", () => {
    const { schedule } = new History()

    assert.equal(clock(occurrenceAfter(schedule, at("10:00"))!.scheduledFor), "12:30")
    assert.equal(clock(occurrenceAfter(schedule, at("07:30"))!.scheduledFor), "08:00")
    assert.equal(clock(occurrenceBefore(schedule, at("11:00"))!.scheduledFor), "08:00")
    assert.isNull(occurrenceBefore({ ...schedule, coveredUntil: null }, at("11:00")))
    assert.equal(clock(nextToRunAt(schedule)), "12:30")
  })

  test("the only occurrence of a schedule can be passed over", () => {
    const { schedule } = new History(aSchedule({ at: at("12:00") }), "14:00")

    assert.isNull(occurrenceBefore(schedule, at("13:00")))
    assert.isNull(planSettle(schedule, NO_FACTS, at("10:10")))
    assert.deepEqual(new History(aSchedule({ at: at("12:00") }), "14:00").fire("14:00").summary, [
      "12:00 skipped operator",
      "14:00 schedule",
      "next never",
    ])
  })

  test("a month of passed-over seconds is one record, whose count stops at 10,000", () => {
    const history = new History(aSchedule({ every: "1s" }, { coveredUntil: NOW }), "2026-04-10T08:00:00.500Z")

    history.apply(planFire(history.schedule, NO_FACTS, at("2026-04-10T08:00:00.500Z")))

    const [range, run] = history.runs
    assert.deepEqual([range?.missed?.count, run?.triggeredBy, history.runs.length], [10_000, "schedule", 2])
  })
})

describe("changes after a reschedule", () => {
  test("restoring the reschedule makes the later occurrences of the timetable count again", () => {
    const history = new History()
    history.apply(restore(history.schedule, at("12:30"), NO_FACTS, at("10:10")))

    assert.deepEqual(history.summary, ["09:00-10:00 (2) skipped operator", "next 11:00"])
    assert.deepEqual(history.schedule.overrides, [])
  })

  test.each([
    [
      "sooner",
      "10:30",
      ["09:00-10:00 (2) skipped operator", "10:30 schedule", "11:00 schedule", "next 12:00"],
    ],
    ["later", "13:30", ["09:00-10:00 (2) skipped operator", "next 13:30"]],
    [
      "at once",
      "10:10",
      ["09:00-10:00 (2) skipped operator", "10:10 schedule", "11:00 schedule", "next 12:00"],
    ],
  ])("a second reschedule, to %s, replaces the first", (_, to, summary) => {
    const history = new History()
    history.apply(reschedule(history.schedule, at(to), why, NO_FACTS, at("10:10")))

    if (to < "11:00") history.fire(to, "11:00")
    assert.deepEqual(history.summary, summary)
  })

  test("a new timetable applies from now on", () => {
    const history = new History(aSchedule({ cron: "0 12 * * *" }), "2026-04-09T12:30")
    const now = at("2026-03-12T13:10:00Z")
    history.apply(planSettle(history.schedule, NO_FACTS, now))
    const edited = redefine(history.schedule, aDefinition({ cron: "0 * * * *" }), now)

    assert.deepEqual(ledger(history.runs), ["12:00-2026-03-12 12:00 (3) skipped operator"])
    assert.deepEqual([clock(edited.nextRunAt), edited.overrides], ["2026-03-12 14:00", []])
  })

  test("a new timetable that contains the rescheduled instant applies from now on too", () => {
    const { schedule } = new History(aSchedule(), "12:00")

    assert.equal(clock(redefine(schedule, aDefinition({ cron: "*/30 * * * *" }), NOW).nextRunAt), "08:30")
  })
})

describe("events between a reschedule and its time", () => {
  test("after a pause and a resume the rescheduled time is still the next run", () => {
    const history = new History()
    history.apply(pause(history.schedule, { ...why, until: null }, NO_FACTS, at("09:10")))
    history.apply(resume(history.schedule, NO_FACTS, at("10:10")))

    assert.deepEqual(history.summary, ["09:00-10:00 (2) skipped operator", "next 12:30"])
    assert.deepEqual(history.fire("12:30").summary.slice(1), [
      "11:00-12:00 (2) skipped operator",
      "12:30 schedule",
      "next 13:00",
    ])
  })

  test("an edit during a pause records the occurrences passed over until then", () => {
    const history = new History()
    history.apply(pause(history.schedule, { ...why, until: null }, NO_FACTS, at("09:10")))
    history.apply(planSettle(history.schedule, NO_FACTS, at("10:10")))

    assert.deepEqual(ledger(history.runs), ["09:00-10:00 (2) skipped operator"])
  })

  test("an edit that doesn't change the timetable has nothing to settle", () => {
    assert.isNull(planSettle(new History().schedule, NO_FACTS, at("10:10"), { canWait: true }))
  })

  test("after an outage the rescheduled occurrence is late, and the passed-over ones aren't", () => {
    assert.deepEqual(new History().fire("14:10").summary, [
      "09:00-12:00 (4) skipped operator",
      "12:30-13:00 (2) skipped coalesced",
      "14:00 catchup",
      "next 15:00",
    ])
  })

  test("after an outage the same holds for a reschedule to an occurrence of the timetable", () => {
    assert.deepEqual(new History(aSchedule(), "12:00").fire("14:10").summary, [
      "09:00-11:00 (3) skipped operator",
      "12:00-13:00 (2) skipped coalesced",
      "14:00 catchup",
      "next 15:00",
    ])
  })

  test("a pause that includes the rescheduled time drops it, and the passed-over occurrences keep their reason", () => {
    const history = new History()
    history.apply(pause(history.schedule, { ...why, until: null }, NO_FACTS, at("09:10")))
    history.apply(resume(history.schedule, NO_FACTS, at("13:10")))

    assert.deepEqual(history.summary, [
      "09:00-12:00 (4) skipped operator",
      "12:30-13:00 (2) skipped paused",
      "next 14:00",
    ])
  })

  test.each([
    ["skipped", (schedule: Schedule) => skip(schedule, at("12:30"), why, NOW), "12:30 skipped operator"],
    ["moved", (schedule: Schedule) => move(schedule, at("12:30"), at("12:10"), why, NOW), "12:30 schedule"],
  ])("when the rescheduled occurrence is %s, the passed-over ones stay passed over", (_, step, record) => {
    const history = new History()
    history.apply(step(history.schedule))
    history.apply(planFire(history.schedule, NO_FACTS, history.schedule.nextRunAt!))

    assert.deepEqual(ledger(history.runs), ["09:00-12:00 (4) skipped operator", record])
  })

  test("a run fired from memory without knowledge of the reschedule keeps its record and counts towards maxRuns", () => {
    const recorded = [{ from: at("10:00"), until: at("10:00"), isRun: true }]
    const facts: FireFacts = { ...NO_FACTS, recorded }
    const history = new History(aSchedule({ maxRuns: 2 }))

    history.apply(planFire(history.schedule, facts, at("12:30")))

    assert.deepEqual(history.summary, [
      "09:00 skipped operator",
      "11:00-12:00 (2) skipped operator",
      "12:30 schedule",
      "next never",
    ])
  })

  test("a run fired from memory counts towards maxRuns also if the reschedule is restored", () => {
    const recorded = [{ from: at("10:00"), until: at("10:00"), isRun: true }]
    const history = new History(aSchedule({ maxRuns: 2 }))

    history.apply(restore(history.schedule, at("12:30"), { ...NO_FACTS, recorded }, at("11:10")))

    assert.deepEqual(history.summary, ["09:00 skipped operator", "11:00 skipped operator", "next 12:00"])
    assert.equal(history.schedule.firedCount, 1)
  })

  test("a passed-over occurrence is settled from its time on, and only once", () => {
    const { schedule } = new History()

    assert.isNull(planSettle(schedule, NO_FACTS, at("09:00") - 1))
    assert.deepEqual(ledger(planSettle(schedule, NO_FACTS, at("09:00"))!.runs), ["09:00 skipped operator"])
    assert.isNull(planSettle({ ...schedule, coveredUntil: at("09:00") }, NO_FACTS, at("09:30")))
  })

  test("a process that fires from memory takes account of the reschedule", () => {
    const { schedule } = new History(aSchedule({ maxRuns: 3 }))
    const standIn = standInFor(schedule, at("10:10"))

    assert.equal(clock(standIn.schedule.nextRunAt), "12:30")
  })
})
