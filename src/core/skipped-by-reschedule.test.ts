import { assert, describe, test } from "vitest"
import { aDefinition, applied, aSchedule, at, clock, ledger } from "../../test/support/records.ts"
import { planFire, planSettle } from "./fire.ts"
import { nextToRunAt, occurrenceAfter, occurrenceBefore } from "./occurrence.ts"
import { type FireFacts, NO_FACTS, type Plan } from "./plan.ts"
import { redefine } from "./redefine.ts"
import type { NewRun } from "./run.ts"
import type { Schedule } from "./schedule.ts"
import { standInFor } from "./stand-in.ts"
import { move, pause, reschedule, restore, resume, skip } from "./steer.ts"

/** Hourly, and at 08:10 the next one was made that of 12:30: those of 09:00 to 12:00 are passed over. */

const NOW = at("08:10")
const why = { reason: null, by: "ada" }

class Story {
  schedule: Schedule
  readonly runs: NewRun[] = []

  constructor(schedule = aSchedule(), to = "12:30") {
    this.schedule = schedule
    this.take(reschedule(schedule, at(to), why, NO_FACTS, NOW))
  }

  take(plan: Plan | null): this {
    if (plan === null) return this
    this.runs.push(...plan.runs)
    this.schedule = applied(this.schedule, plan)
    return this
  }

  fire(...times: readonly string[]): this {
    for (const time of times) this.take(planFire(this.schedule, NO_FACTS, at(time)))
    return this
  }

  get told(): readonly string[] {
    return [...ledger(this.runs), `next ${clock(this.schedule.nextRunAt)}`]
  }
}

describe("nothing is recorded before its time", () => {
  test("until the next one is due", () => {
    const story = new Story()

    assert.deepEqual(story.told, ["next 12:30"])
    assert.deepEqual(story.fire("12:30", "13:00").told, [
      "09:00-12:00 (4) skipped operator",
      "12:30 schedule",
      "13:00 schedule",
      "next 14:00",
    ])
  })

  test("and it is no occurrence, from either side", () => {
    const { schedule } = new Story()

    assert.equal(clock(occurrenceAfter(schedule, at("10:00"))!.scheduledFor), "12:30")
    assert.equal(clock(occurrenceAfter(schedule, at("07:30"))!.scheduledFor), "08:00")
    assert.equal(clock(occurrenceBefore(schedule, at("11:00"))!.scheduledFor), "08:00")
    assert.isNull(occurrenceBefore({ ...schedule, coveredUntil: null }, at("11:00")))
    assert.equal(clock(nextToRunAt(schedule)), "12:30")
  })

  test("also if nothing came before", () => {
    const { schedule } = new Story(aSchedule({ at: at("12:00") }), "14:00")

    assert.isNull(occurrenceBefore(schedule, at("13:00")))
    assert.isNull(planSettle(schedule, NO_FACTS, at("10:10")))
    assert.deepEqual(new Story(aSchedule({ at: at("12:00") }), "14:00").fire("14:00").told, [
      "12:00 skipped operator",
      "14:00 schedule",
      "next never",
    ])
  })

  test("a month of seconds is one record that was quickly counted", () => {
    const story = new Story(aSchedule({ every: "1s" }, { coveredUntil: NOW }), "2026-04-10T08:00:00.500Z")

    story.take(planFire(story.schedule, NO_FACTS, at("2026-04-10T08:00:00.500Z")))

    const [range, run] = story.runs
    assert.deepEqual([range?.missed?.count, run?.triggeredBy, story.runs.length], [10_000, "schedule", 2])
  })
})

describe("whoever thinks again", () => {
  test("takes the reschedule back: the rest of the timetable counts again", () => {
    const story = new Story()
    story.take(restore(story.schedule, at("12:30"), NO_FACTS, at("10:10")))

    assert.deepEqual(story.told, ["09:00-10:00 (2) skipped operator", "next 11:00"])
    assert.deepEqual(story.schedule.overrides, [])
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
  ])("reschedules again, to %s: that takes the place of the first", (_, to, told) => {
    const story = new Story()
    story.take(reschedule(story.schedule, at(to), why, NO_FACTS, at("10:10")))

    if (to < "11:00") story.fire(to, "11:00")
    assert.deepEqual(story.told, told)
  })

  test("gives it another timetable: that goes on from now", () => {
    const story = new Story(aSchedule({ cron: "0 12 * * *" }), "2026-04-09T12:30")
    const now = at("2026-03-12T13:10:00Z")
    story.take(planSettle(story.schedule, NO_FACTS, now))
    const edited = redefine(story.schedule, aDefinition({ cron: "0 * * * *" }), now)

    assert.deepEqual(ledger(story.runs), ["12:00-2026-03-12 12:00 (3) skipped operator"])
    assert.deepEqual([clock(edited.nextRunAt), edited.overrides], ["2026-03-12 14:00", []])
  })

  test("gives it another timetable that has the very instant: that goes on from now, too", () => {
    const { schedule } = new Story(aSchedule(), "12:00")

    assert.equal(clock(redefine(schedule, aDefinition({ cron: "*/30 * * * *" }), NOW).nextRunAt), "08:30")
  })
})

describe("meanwhile", () => {
  test("a pause and its end leave it the next one", () => {
    const story = new Story()
    story.take(pause(story.schedule, { ...why, until: null }, NO_FACTS, at("09:10")))
    story.take(resume(story.schedule, NO_FACTS, at("10:10")))

    assert.deepEqual(story.told, ["09:00-10:00 (2) skipped operator", "next 12:30"])
    assert.deepEqual(story.fire("12:30").told.slice(1), [
      "11:00-12:00 (2) skipped operator",
      "12:30 schedule",
      "next 13:00",
    ])
  })

  test("an edit in a pause records what was passed over until then", () => {
    const story = new Story()
    story.take(pause(story.schedule, { ...why, until: null }, NO_FACTS, at("09:10")))
    story.take(planSettle(story.schedule, NO_FACTS, at("10:10")))

    assert.deepEqual(ledger(story.runs), ["09:00-10:00 (2) skipped operator"])
  })

  test("an edit that leaves the times alone has nothing to settle", () => {
    assert.isNull(planSettle(new Story().schedule, NO_FACTS, at("10:10"), { canWait: true }))
  })

  test("an outage until after it: it is late, and what was passed over isn't", () => {
    assert.deepEqual(new Story().fire("14:10").told, [
      "09:00-12:00 (4) skipped operator",
      "12:30-13:00 (2) skipped coalesced",
      "14:00 catchup",
      "next 15:00",
    ])
  })

  test("an outage until after it, where it is one of the timetable's own", () => {
    assert.deepEqual(new Story(aSchedule(), "12:00").fire("14:10").told, [
      "09:00-11:00 (3) skipped operator",
      "12:00-13:00 (2) skipped coalesced",
      "14:00 catchup",
      "next 15:00",
    ])
  })

  test("a pause over its time drops it, beside what was passed over", () => {
    const story = new Story()
    story.take(pause(story.schedule, { ...why, until: null }, NO_FACTS, at("09:10")))
    story.take(resume(story.schedule, NO_FACTS, at("13:10")))

    assert.deepEqual(story.told, [
      "09:00-12:00 (4) skipped operator",
      "12:30-13:00 (2) skipped paused",
      "next 14:00",
    ])
  })

  test.each([
    ["left out", (schedule: Schedule) => skip(schedule, at("12:30"), why, NOW), "12:30 skipped operator"],
    ["moved", (schedule: Schedule) => move(schedule, at("12:30"), at("12:10"), why, NOW), "12:30 schedule"],
  ])("it is %s: what was passed over stays so", (_, step, record) => {
    const story = new Story()
    story.take(step(story.schedule))
    story.take(planFire(story.schedule, NO_FACTS, story.schedule.nextRunAt!))

    assert.deepEqual(ledger(story.runs), ["09:00-12:00 (4) skipped operator", record])
  })

  test("what a process that didn't know of it has fired from memory has its own record, and counts", () => {
    const recorded = [{ from: at("10:00"), until: at("10:00"), isRun: true }]
    const facts: FireFacts = { ...NO_FACTS, recorded }
    const story = new Story(aSchedule({ maxRuns: 2 }))

    story.take(planFire(story.schedule, facts, at("12:30")))

    assert.deepEqual(story.told, [
      "09:00 skipped operator",
      "11:00-12:00 (2) skipped operator",
      "12:30 schedule",
      "next never",
    ])
  })

  test("what was fired from memory counts also if the reschedule is taken back", () => {
    const recorded = [{ from: at("10:00"), until: at("10:00"), isRun: true }]
    const story = new Story(aSchedule({ maxRuns: 2 }))

    story.take(restore(story.schedule, at("12:30"), { ...NO_FACTS, recorded }, at("11:10")))

    assert.deepEqual(story.told, ["09:00 skipped operator", "11:00 skipped operator", "next 12:00"])
    assert.equal(story.schedule.firedCount, 1)
  })

  test("nothing has passed yet that would have to be recorded", () => {
    const { schedule } = new Story()

    assert.isNull(planSettle(schedule, NO_FACTS, at("09:00") - 1))
    assert.deepEqual(ledger(planSettle(schedule, NO_FACTS, at("09:00"))!.runs), ["09:00 skipped operator"])
    assert.isNull(planSettle({ ...schedule, coveredUntil: at("09:00") }, NO_FACTS, at("09:30")))
  })

  test("a process that fires from memory knows of it", () => {
    const { schedule } = new Story(aSchedule({ maxRuns: 3 }))
    const standIn = standInFor(schedule, at("10:10"))

    assert.equal(clock(standIn.schedule.nextRunAt), "12:30")
  })
})
