import { assert, describe, test } from "vitest"
import { edit, edited } from "../../test/support/edited.ts"
import { aRunRef, aSchedule, at, clock, withUnfinished } from "../../test/support/records.ts"
import { afterNextPlan } from "./next-plan.ts"
import type { Schedule } from "./schedule.ts"

const nextOf = (schedule: Schedule) => {
  const { nextRunAt } = afterNextPlan(schedule)
  return nextRunAt === null ? null : clock(nextRunAt)
}
const skipped = { scheduledFor: at("09:00"), dueAt: null, reason: null, by: null }
const paused = { at: at("08:10"), until: null, reason: null, by: null }

test("a schedule that nobody wrote to past our door is next due when it is", () => {
  assert.equal(nextOf(aSchedule()), "09:00")
})

test("what is left out is no next run", () => {
  assert.equal(nextOf(aSchedule({}, { overrides: [skipped] })), "10:00")
})

describe("an edit that waits to be planned is seen at once", () => {
  test.each<[string, Schedule, string | null]>([
    ["another priority", edited(aSchedule({ priority: 5 }), edit("08:10", { priority: 0 })), "09:00"],
    ["a reschedule", edited(aSchedule(), edit("08:10", {}, { nextRunAt: at("08:30") })), "08:30"],
    ["a pause", edited(aSchedule({}, { paused }), edit("08:10", {})), null],
    ["disabled", edited(aSchedule({ enabled: false }), edit("08:10", { enabled: true })), null],
  ])("%s", (_, schedule, next) => {
    assert.equal(nextOf({ ...schedule, nextRunAt: at("08:10") }), next)
  })

  test("one that finishes a schedule which goes then", () => {
    const once = { maxRuns: 1, removeWhenFinished: true }
    const spent = aSchedule(once)
    const schedule = edited(spent, edit("12:00", { ...once, priority: 7 }))

    const { nextRunAt, finishedAt } = afterNextPlan(schedule)

    assert.deepEqual([nextRunAt, finishedAt], [null, spent.updatedAt])
  })
})

test("a row that was inserted is due at its first occurrence, not when it was inserted", () => {
  const inserted = aSchedule({}, { nextRunAt: at("08:10"), coveredUntil: at("08:10") })

  assert.equal(nextOf({ ...inserted, edits: [] }), "09:00")
})

test("a row that was inserted and never planned is next due after it was made", () => {
  const { createdAt, ...rest } = aSchedule({}, { nextRunAt: at("08:10"), coveredUntil: null })

  assert.equal(nextOf({ ...rest, createdAt: at("08:10"), edits: [] }), "09:00")
  assert.ok(createdAt <= at("08:10"))
})

describe("what can't be planned says why, before anybody has looked", () => {
  test.each<[string, Schedule, RegExp]>([
    ["a zone, of an interval", { ...aSchedule({ every: "1h" }), timezone: "Mars/Olympus" }, /Mars\/Olympus/],
    [
      "a zone, of one instant",
      { ...aSchedule({ at: at("09:00") }), timezone: "Mars/Olympus" },
      /Mars\/Olympus/,
    ],
    [
      "a cron",
      { ...aSchedule(), triggers: [{ kind: "cron", cron: "x", dayMatch: "either" }] },
      /expected 5 \(minute hour/,
    ],
    ["an override", { ...aSchedule(), overrides: [{ ...skipped, reason: {} as string }] }, /^overrides\[0\]/],
  ])("%s", (_, schedule, said) => {
    const { nextRunAt, lastError } = afterNextPlan(schedule)

    assert.equal(nextRunAt, null)
    assert.match(lastError!, said)
  })

  test("and what is known to be wrong stays as it is", () => {
    const broken = aSchedule({}, { lastError: "why", nextRunAt: null })

    assert.deepEqual(afterNextPlan(broken), broken)
  })
})

test("what an edit settles depends on the facts: an occurrence that is skipped uses up no limit", () => {
  const schedule = edited(aSchedule({ maxRuns: 1 }), edit("09:30", { maxRuns: 1, priority: 7 }))

  const free = afterNextPlan(schedule)
  const held = afterNextPlan(schedule, withUnfinished(aRunRef({ id: "other" })))

  assert.deepEqual([free.firedCount, free.nextRunAt], [1, null])
  assert.deepEqual([held.firedCount, held.finishedAt, clock(held.nextRunAt!)], [0, null, "10:00"])
})
