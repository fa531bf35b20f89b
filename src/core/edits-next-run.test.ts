import { assert, describe, test } from "vitest"
import { edit, edited, planned } from "../../test/support/edited.ts"
import { aRunRef, aSchedule, at, clock, ledger, withUnfinished } from "../../test/support/records.ts"
import { planFire } from "./fire.ts"

/** A next run that was written without our checks is planned as if it had been asked for when it was written. */

describe("a next run", () => {
  test("by itself it is a reschedule", () => {
    const schedule = edited(aSchedule(), edit("08:10", {}, { nextRunAt: at("08:30") }))

    const { runs, after } = planned(schedule, at("08:20"))

    assert.deepEqual(runs, [])
    assert.deepEqual(after.overrides, [
      { scheduledFor: at("08:30"), dueAt: at("08:30"), reason: null, by: "ada" },
    ])
  })

  test.each([
    ["before", "07:00", "08:00", ["08:10 schedule"]],
    [
      "before, where an occurrence of that instant was fired ahead",
      "07:00",
      "08:10",
      ["08:10:00.001 schedule"],
    ],
    ["at the instant it was written", "08:10", "08:00", ["08:10 schedule"]],
    ["at that instant, where an occurrence was fired ahead", "08:10", "08:10", ["08:10:00.001 schedule"]],
  ])("in the past it is at once: %s", (_, nextRunAt, coveredUntil, runs) => {
    const schedule = aSchedule({}, { coveredUntil: at(coveredUntil) })

    const asked = edited(schedule, edit("08:10", {}, { nextRunAt: at(nextRunAt) }))

    assert.deepEqual(planned(asked, at("08:10:01")).runs, runs)
  })

  test("in the past, together with another jitter, it is at once", () => {
    const schedule = edited(aSchedule({ jitter: "30m" }), edit("08:10", {}, { nextRunAt: at("07:00") }))

    assert.deepEqual(planned(schedule, at("08:10:01")).runs, ["08:10 schedule"])
  })

  test("together with another timetable it says when that begins, and nothing is replaced", () => {
    const was = { enabled: false }
    const schedule = edited(aSchedule(), edit("08:10", was, { nextRunAt: at("08:30") }))

    const { after } = planned(schedule, at("08:20"))
    const later = planned({ ...after, version: 9 }, at("09:00"))

    assert.equal(clock(after.nextRunAt), "08:30")
    assert.deepEqual(after.overrides, [
      {
        scheduledFor: at("08:30"),
        dueAt: at("08:30"),
        reason: "Begins at 2026-03-10T08:30:00Z",
        by: "ada",
        isNext: true,
      },
    ])
    assert.deepEqual([clock(after.coveredUntil), clock(later.after.nextRunAt)], ["08:10", "10:00"])
  })

  test("together with another jitter it leaves alone what was said of later occurrences", () => {
    const said = (time: string) => ({ scheduledFor: at(time), dueAt: null, reason: null, by: null })
    const overrides = ["09:00", "10:00", "11:00"].map(said)
    const schedule = aSchedule({ jitter: "1m" }, { overrides })

    const { after } = planned(edited(schedule, edit("08:10", {}, { nextRunAt: at("10:00") })), at("08:20"))

    assert.deepEqual(
      after.overrides.map(({ scheduledFor, dueAt }) => [clock(scheduledFor), clock(dueAt)]),
      [
        ["11:00", "never"],
        ["10:00", "10:00"],
      ],
    )
  })

  test.each([
    ["disabled", {}, { enabled: false }, "never"],
    ["paused", { paused: { at: at("08:05"), until: at("12:00"), reason: null, by: null } }, {}, "12:00"],
  ])("together with another timetable it doesn't wake a schedule that is %s", (_, progress, options, due) => {
    const schedule = aSchedule({ ...options, cron: "30 * * * *" }, progress)
    const was = { ...edit("08:10", options).was, paused: schedule.paused }

    const { after } = planned(
      edited(schedule, edit("08:10", options, { was, nextRunAt: at("08:40") })),
      at("08:20"),
    )

    assert.equal(clock(after.nextRunAt), due)
  })

  test("of a schedule that can't be read waits for somebody to mend it", () => {
    const unreadable = { ...aSchedule(), timezone: "Mars/Olympus" }

    const { runs, after } = planned(
      edited(unreadable, edit("08:10", { endsAt: at("20:00") }, { nextRunAt: at("08:30") })),
      at("08:20"),
    )

    assert.deepEqual(runs, [])
    assert.match(after.lastError!, /Mars/)
    assert.deepEqual([after.nextRunAt, after.overrides], [null, []])
  })

  test("of null plans from then on, without what was left out or moved", () => {
    const overrides = [{ scheduledFor: at("09:00"), dueAt: null, reason: null, by: null }]
    const schedule = aSchedule({}, { overrides, coveredUntil: at("08:55") })

    const { runs, after } = planned(edited(schedule, edit("08:10", {}, { nextRunAt: null })), at("08:20"))

    assert.deepEqual(runs, [])
    assert.deepEqual([clock(after.nextRunAt), after.overrides], ["09:00", []])
  })

  test("of null, of one that was to begin later, begins now", () => {
    const schedule = beginning("12:00", at("08:00"))

    const { runs, after } = planned(edited(schedule, edit("08:10", {}, { nextRunAt: null })), at("08:20"))

    assert.deepEqual([runs, clock(after.nextRunAt)], [[], "09:00"])
  })

  test("of null, of one that was to begin later, begins after what had its record before that", () => {
    const schedule = beginning("12:00", at("10:00"))

    const { after } = planned(edited(schedule, edit("08:10", {}, { nextRunAt: null })), at("08:20"))

    assert.deepEqual([clock(after.coveredUntil), clock(after.nextRunAt)], ["10:00", "11:00"])
    assert.deepEqual(after.overrides, [])
  })

  test("of null, of one that was to begin later, records what has been passed over until then", () => {
    const asked = edited(beginning("12:00", at("08:00")), edit("10:10", {}, { nextRunAt: null }))

    const { runs, after } = planned(asked, at("10:20"))

    assert.deepEqual([runs, clock(after.nextRunAt)], [["09:00-10:00 (2) skipped operator"], "11:00"])
  })

  test("of null doesn't wait for room in a queue: what finds none is recorded", () => {
    const options = { catchUp: "all", overlap: { policy: "queue", limit: 1 } } as const
    const asked = edited(aSchedule(options), edit("11:10", options, { nextRunAt: null }))
    const full = withUnfinished(aRunRef({ id: "a" }), aRunRef({ id: "b", state: "pending", attempt: 0 }))

    assert.deepEqual(ledger(planFire(asked, full, at("11:20")).runs), [
      "09:00 skipped capacity",
      "10:00 skipped capacity",
      "11:00 skipped capacity",
    ])
  })

  test("of a time that has passed, after one far ahead, then of null: nothing has two records", () => {
    const far = edit("08:10", {}, { nextRunAt: at("12:30") })
    const past = edit("08:20", {}, { nextRunAt: at("08:00") })
    const none = edit("08:30", {}, { nextRunAt: null })

    const { runs, after } = planned(edited(aSchedule(), far, past, none), at("08:40"))

    assert.deepEqual(runs, ["08:20 catchup"])
    assert.equal(clock(after.nextRunAt), "09:00")
  })

  test("of null begins after what is settled: those were passed over, and have their record", () => {
    const schedule = aSchedule({}, { coveredUntil: at("12:00") })

    const { after } = planned(edited(schedule, edit("08:10", {}, { nextRunAt: null })), at("08:20"))

    assert.deepEqual([clock(after.coveredUntil!), clock(after.nextRunAt)], ["12:00", "13:00"])
  })

  test("together with another timetable begins after what is settled, too", () => {
    const schedule = aSchedule({}, { coveredUntil: at("12:00") })
    const asked = edit("08:10", { cron: "30 * * * *" }, { nextRunAt: at("10:00") })

    const { after } = planned(edited(schedule, asked), at("08:20"))

    assert.deepEqual([after.coveredUntil, after.nextRunAt], [at("12:00"), at("12:00") + 1])
  })

  test("that the schedule can't have is in the ledger, and the schedule goes on", () => {
    const schedule = aSchedule({ maxRuns: 1 }, { firedCount: 1, finishedAt: at("08:00") })

    const { runs, after } = planned(
      edited(schedule, edit("08:10", { maxRuns: 1 }, { nextRunAt: at("08:30") })),
    )

    assert.deepEqual(runs, ["08:10 skipped operator"])
    assert.equal(after.nextRunAt, null)
  })
})

/** A schedule that is to begin at a later time; all up to `coveredUntil` has its record. */
function beginning(when: string, coveredUntil: number) {
  const begins = {
    scheduledFor: at(when),
    dueAt: at(when),
    reason: "Begins as inserted",
    by: "ada",
    isNext: true,
  }
  return aSchedule({}, { coveredUntil, overrides: [begins] })
}
