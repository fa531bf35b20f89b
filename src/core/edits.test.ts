import { assert, describe, test } from "vitest"
import {
  aDefinition,
  applied,
  aSchedule,
  at,
  clock,
  ledger,
  progressAfter,
  withUnfinished,
} from "../../test/support/records.ts"
import { planFire, planSettle } from "./fire.ts"
import type { ScheduleOptions } from "./options.ts"
import { factsAfter, NO_FACTS } from "./plan.ts"
import type { Edit, Schedule } from "./schedule.ts"

/** What was written past our door is planned as if it had been asked for when it was written. */

const ALL: ScheduleOptions = { catchUp: "all", overlap: "allow" }
const NOW = at("15:00")

function edit(when: string, was: ScheduleOptions, more: Partial<Edit> = {}): Edit {
  return { at: at(when), by: "ada", was: { ...aDefinition(was), paused: null }, ...more }
}

/** As a store hands it out: due, with what was written to it. */
function edited(schedule: Schedule, ...edits: readonly Edit[]): Schedule {
  return { ...schedule, nextRunAt: edits[0]!.at, edits }
}

/** Until nothing more is due at `now`. */
function planned(schedule: Schedule, now = NOW) {
  const first = planFire(schedule, NO_FACTS, now)
  const { edits: _, ...settled } = applied(schedule, first)
  const isDue = settled.nextRunAt !== null && settled.nextRunAt <= now
  const second = isDue ? planFire(settled, factsAfter(NO_FACTS, first), now) : null
  return {
    runs: ledger([...first.runs, ...(second?.runs ?? [])]),
    after: second === null ? settled : applied(settled, second),
  }
}

describe("another timetable", () => {
  test("what was owed by the old one is made up for, what came since by the new one", () => {
    const schedule = edited(aSchedule({ ...ALL, cron: "30 * * * *" }), edit("11:10", ALL))

    const { runs, after } = planned(schedule)

    assert.deepEqual(runs, [
      ...["09:00 catchup", "10:00 catchup", "11:00 catchup"],
      ...["11:30 catchup", "12:30 catchup", "13:30 catchup", "14:30 catchup"],
    ])
    assert.equal(clock(after.nextRunAt), "15:30")
  })

  test("of two edits, each timetable counts for its own time", () => {
    const schedule = edited(
      aSchedule({ ...ALL, cron: "45 * * * *" }),
      edit("10:10", ALL),
      edit("12:10", { ...ALL, cron: "30 * * * *" }),
    )

    assert.deepEqual(planned(schedule, at("13:50")).runs, [
      ...["09:00 catchup", "10:00 catchup"],
      ...["10:30 catchup", "11:30 catchup"],
      ...["12:45 catchup", "13:45 catchup"],
    ])
  })

  test("one that can't be read stops the schedule, and what was owed before is still made up for", () => {
    const unreadable = { ...aSchedule(ALL), timezone: "Mars/Olympus" }

    const { runs, after } = planned(edited(unreadable, edit("10:10", ALL)))

    assert.deepEqual(runs, ["09:00 catchup", "10:00 catchup"])
    assert.match(after.lastError!, /Mars/)
    assert.equal(after.nextRunAt, null)
  })

  test("one that mends the schedule goes on from when it was written", () => {
    const broken = { ...aDefinition(), timezone: "Mars/Olympus", paused: null }
    const stopped = aSchedule({}, { nextRunAt: null, lastError: "Mars" })

    const { runs, after } = planned(edited(stopped, edit("12:10", {}, { was: broken })), at("12:20"))

    assert.deepEqual(runs, [])
    assert.deepEqual([clock(after.nextRunAt), after.lastError], ["13:00", null])
  })
})

test("two definitions that each owe a run under overlap skip make one", () => {
  const schedule = edited(
    aSchedule({ cron: "45 * * * *" }),
    edit("10:10", {}),
    edit("12:10", { cron: "30 * * * *" }),
  )

  const plan = planFire(schedule, NO_FACTS, at("12:20"))

  assert.deepEqual(ledger(plan.runs), [
    "09:00 skipped coalesced",
    "10:00 catchup",
    "10:30 skipped coalesced",
    "11:30 skipped overlap",
  ])
})

describe("a pause", () => {
  const PAUSED = { at: at("11:10"), until: null, reason: "move", by: "ada" }

  test("what was owed before it is made up for", () => {
    const schedule = edited(aSchedule(ALL, { paused: PAUSED }), edit("11:10", ALL))

    const { runs, after } = planned(schedule)

    assert.deepEqual(runs, ["09:00 catchup", "10:00 catchup", "11:00 catchup"])
    assert.deepEqual([after.paused?.at, after.nextRunAt], [PAUSED.at, null])
  })

  test("and its end before anybody looked: an interval in between, then on", () => {
    const paused = { ...aDefinition(ALL), paused: PAUSED }
    const schedule = edited(aSchedule(ALL), edit("11:10", ALL), edit("13:10", ALL, { was: paused }))

    const { runs, after } = planned(schedule, at("14:20"))

    assert.deepEqual(runs, [
      ...["09:00 catchup", "10:00 catchup", "11:00 catchup"],
      "12:00-13:00 (2) skipped paused",
      "14:00 catchup",
    ])
    assert.equal(after.paused, null)
  })

  test("that was written with an end in the past is over", () => {
    const paused = { ...PAUSED, until: at("10:00") }
    const schedule = edited(aSchedule(ALL, { paused }), edit("11:10", ALL))

    const { after } = planned(schedule, at("11:20"))

    assert.deepEqual([after.paused, clock(after.nextRunAt)], [null, "12:00"])
  })
})

describe("a next run", () => {
  test("by itself it is a reschedule", () => {
    const schedule = edited(aSchedule(), edit("08:10", {}, { nextRunAt: at("08:30") }))

    const { runs, after } = planned(schedule, at("08:20"))

    assert.deepEqual(runs, [])
    assert.deepEqual(
      after.overrides.map(({ scheduledFor, dueAt }) => [clock(scheduledFor), clock(dueAt)]),
      [["08:30", "08:30"]],
    )
  })

  test("in the past it is at once", () => {
    const schedule = edited(aSchedule({ jitter: "30m" }), edit("08:10", {}, { nextRunAt: at("07:00") }))

    assert.deepEqual(planned(schedule, at("08:10:01")).runs, ["08:10 schedule"])
  })

  test("together with another timetable it says when that begins, and nothing is replaced", () => {
    const was = { enabled: false }
    const schedule = edited(aSchedule(), edit("08:10", was, { nextRunAt: at("08:30") }))

    const { after } = planned(schedule, at("08:20"))
    const later = planned({ ...after, version: 9 }, at("09:00"))

    assert.equal(clock(after.nextRunAt), "08:30")
    assert.equal(clock(later.after.nextRunAt), "10:00")
  })

  test("of null plans from then on, without what was left out or moved", () => {
    const overrides = [{ scheduledFor: at("09:00"), dueAt: null, reason: null, by: null }]
    const schedule = aSchedule({}, { overrides, coveredUntil: at("08:55") })

    const { runs, after } = planned(edited(schedule, edit("08:10", {}, { nextRunAt: null })), at("08:20"))

    assert.deepEqual(runs, [])
    assert.deepEqual([clock(after.nextRunAt), after.overrides], ["09:00", []])
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

test("an operator's step, or an edit at the door, waits until what was written is planned", () => {
  const schedule = edited(aSchedule(), edit("08:10", { priority: 3 }))

  const plan = planSettle(schedule, NO_FACTS, at("08:20"))

  assert.isNotNull(progressAfter(plan))
  assert.isNull(planSettle(aSchedule(), withUnfinished(), at("08:20")))
})
