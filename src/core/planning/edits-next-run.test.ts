import { assert, describe, test } from "vitest"
import { edit, edited, planned } from "../../../test/support/edited.ts"
import { aRunRef, aSchedule, at, clock, ledger, withUnfinished } from "../../../test/support/records.ts"
import { planFire } from "./fire.ts"

// Here nextRunAt was changed by SQL directly. It is planned like a request made at the time of the change.

describe("a written nextRunAt", () => {
  test("nextRunAt written without other changes is a reschedule", () => {
    const schedule = edited(aSchedule(), edit("08:10", {}, { nextRunAt: at("08:30") }))

    const { runs, after } = planned(schedule, at("08:20"))

    assert.deepEqual(runs, [])
    assert.deepEqual(after.overrides, [
      { scheduledFor: at("08:30"), dueAt: at("08:30"), reason: null, by: "ada" },
    ])
  })

  test.each([
    ["a past time", "07:00", "08:00", ["08:10 schedule"]],
    [
      "a past time, when an occurrence of the writing instant was fired ahead",
      "07:00",
      "08:10",
      ["08:10:00.001 schedule"],
    ],
    ["the writing instant", "08:10", "08:00", ["08:10 schedule"]],
    ["the writing instant, when an occurrence was fired ahead", "08:10", "08:10", ["08:10:00.001 schedule"]],
  ])("nextRunAt written as %s is due at once", (_, nextRunAt, coveredUntil, runs) => {
    const schedule = aSchedule({}, { coveredUntil: at(coveredUntil) })

    const written = edited(schedule, edit("08:10", {}, { nextRunAt: at(nextRunAt) }))

    assert.deepEqual(planned(written, at("08:10:01")).runs, runs)
  })

  test("nextRunAt written in the past together with a new jitter is due at once", () => {
    const schedule = edited(aSchedule({ jitter: "30m" }), edit("08:10", {}, { nextRunAt: at("07:00") }))

    assert.deepEqual(planned(schedule, at("08:10:01")).runs, ["08:10 schedule"])
  })

  test("nextRunAt written together with a new timetable is the start of that timetable and replaces no occurrence", () => {
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

  test("nextRunAt written together with a new jitter keeps the overrides of later occurrences", () => {
    const skipped = (time: string) => ({ scheduledFor: at(time), dueAt: null, reason: null, by: null })
    const overrides = ["09:00", "10:00", "11:00"].map(skipped)
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
  ])(
    "nextRunAt written together with a new timetable doesn't start a %s schedule",
    (_, progress, options, due) => {
      const schedule = aSchedule({ ...options, cron: "30 * * * *" }, progress)
      const was = { ...edit("08:10", options).was, paused: schedule.paused }

      const { after } = planned(
        edited(schedule, edit("08:10", options, { was, nextRunAt: at("08:40") })),
        at("08:20"),
      )

      assert.equal(clock(after.nextRunAt), due)
    },
  )

  test("nextRunAt written to an unreadable schedule isn't planned, and lastError says why", () => {
    const unreadable = { ...aSchedule(), timezone: "Mars/Olympus" }

    const { runs, after } = planned(
      edited(unreadable, edit("08:10", { endsAt: at("20:00") }, { nextRunAt: at("08:30") })),
      at("08:20"),
    )

    assert.deepEqual(runs, [])
    assert.match(after.lastError!, /Mars/)
    assert.deepEqual([after.nextRunAt, after.overrides], [null, []])
  })

  test("nextRunAt written as null plans from the writing instant on and drops all overrides", () => {
    const overrides = [{ scheduledFor: at("09:00"), dueAt: null, reason: null, by: null }]
    const schedule = aSchedule({}, { overrides, coveredUntil: at("08:55") })

    const { runs, after } = planned(edited(schedule, edit("08:10", {}, { nextRunAt: null })), at("08:20"))

    assert.deepEqual(runs, [])
    assert.deepEqual([clock(after.nextRunAt), after.overrides], ["09:00", []])
  })

  test("nextRunAt written as null starts a schedule now that was to begin later", () => {
    const schedule = beginning("12:00", at("08:00"))

    const { runs, after } = planned(edited(schedule, edit("08:10", {}, { nextRunAt: null })), at("08:20"))

    assert.deepEqual([runs, clock(after.nextRunAt)], [[], "09:00"])
  })

  test("nextRunAt written as null starts a schedule that was to begin later after its recorded occurrences", () => {
    const schedule = beginning("12:00", at("10:00"))

    const { after } = planned(edited(schedule, edit("08:10", {}, { nextRunAt: null })), at("08:20"))

    assert.deepEqual([clock(after.coveredUntil), clock(after.nextRunAt)], ["10:00", "11:00"])
    assert.deepEqual(after.overrides, [])
  })

  test("nextRunAt written as null records the occurrences before it of a schedule that was to begin later", () => {
    const written = edited(beginning("12:00", at("08:00")), edit("10:10", {}, { nextRunAt: null }))

    const { runs, after } = planned(written, at("10:20"))

    assert.deepEqual([runs, clock(after.nextRunAt)], [["09:00-10:00 (2) skipped operator"], "11:00"])
  })

  test("nextRunAt written as null records owed occurrences for which the queue has no room", () => {
    const options = { catchUp: "all", overlap: { policy: "queue", limit: 1 } } as const
    const written = edited(aSchedule(options), edit("11:10", options, { nextRunAt: null }))
    const full = withUnfinished(aRunRef({ id: "a" }), aRunRef({ id: "b", state: "pending", attempt: 0 }))

    assert.deepEqual(ledger(planFire(written, full, at("11:20")).runs), [
      "09:00 skipped capacity",
      "10:00 skipped capacity",
      "11:00 skipped capacity",
    ])
  })

  test("nextRunAt written far ahead, then in the past, then as null gives no occurrence two records", () => {
    const far = edit("08:10", {}, { nextRunAt: at("12:30") })
    const past = edit("08:20", {}, { nextRunAt: at("08:00") })
    const none = edit("08:30", {}, { nextRunAt: null })

    const { runs, after } = planned(edited(aSchedule(), far, past, none), at("08:40"))

    assert.deepEqual(runs, ["08:20 catchup"])
    assert.equal(clock(after.nextRunAt), "09:00")
  })

  test("nextRunAt written as null begins after coveredUntil, because earlier occurrences have their record", () => {
    const schedule = aSchedule({}, { coveredUntil: at("12:00") })

    const { after } = planned(edited(schedule, edit("08:10", {}, { nextRunAt: null })), at("08:20"))

    assert.deepEqual([clock(after.coveredUntil!), clock(after.nextRunAt)], ["12:00", "13:00"])
  })

  test("nextRunAt written together with a new timetable begins after coveredUntil too", () => {
    const schedule = aSchedule({}, { coveredUntil: at("12:00") })
    const written = edit("08:10", { cron: "30 * * * *" }, { nextRunAt: at("10:00") })

    const { after } = planned(edited(schedule, written), at("08:20"))

    assert.deepEqual([after.coveredUntil, after.nextRunAt], [at("12:00"), at("12:00") + 1])
  })

  test("nextRunAt written to a finished schedule is recorded as skipped, and the schedule stays finished", () => {
    const schedule = aSchedule({ maxRuns: 1 }, { firedCount: 1, finishedAt: at("08:00") })

    const { runs, after } = planned(
      edited(schedule, edit("08:10", { maxRuns: 1 }, { nextRunAt: at("08:30") })),
    )

    assert.deepEqual(runs, ["08:10 skipped operator"])
    assert.equal(after.nextRunAt, null)
  })
})

/** A schedule that begins at `when`. Every occurrence up to `coveredUntil` has its record. */
function beginning(when: string, coveredUntil: number) {
  const begin = {
    scheduledFor: at(when),
    dueAt: at(when),
    reason: "Begins as inserted",
    by: "ada",
    isNext: true,
  }
  return aSchedule({}, { coveredUntil, overrides: [begin] })
}
