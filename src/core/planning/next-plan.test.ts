import { assert, describe, test } from "vitest"
import { edit, edited } from "../../../test/support/edited.ts"
import { aRunRef, aSchedule, at, clock, withUnfinished } from "../../../test/support/records.ts"
import type { Schedule } from "../schedule/schedule.ts"
import { afterNextPlan } from "./next-plan.ts"

const nextOf = (schedule: Schedule) => {
  const { nextRunAt } = afterNextPlan(schedule)
  return nextRunAt === null ? null : clock(nextRunAt)
}
const skipped = { scheduledFor: at("09:00"), dueAt: null, reason: null, by: null }
const paused = { at: at("08:10"), until: null, reason: null, by: null }

test("the next run of a schedule without edits is its nextRunAt", () => {
  assert.equal(nextOf(aSchedule()), "09:00")
})

test("an occurrence that an operator skipped isn't the next run", () => {
  assert.equal(nextOf(aSchedule({}, { overrides: [skipped] })), "10:00")
})

describe("edits that aren't planned yet", () => {
  test.each<[string, Schedule, string | null]>([
    ["a new priority", edited(aSchedule({ priority: 5 }), edit("08:10", { priority: 0 })), "09:00"],
    ["a reschedule", edited(aSchedule(), edit("08:10", {}, { nextRunAt: at("08:30") })), "08:30"],
    ["a pause", edited(aSchedule({}, { paused }), edit("08:10", {})), null],
    ["disabling", edited(aSchedule({ enabled: false }), edit("08:10", { enabled: true })), null],
  ])("the next run already takes account of an edit: %s", (_, schedule, next) => {
    assert.equal(nextOf({ ...schedule, nextRunAt: at("08:10") }), next)
  })

  test("an edit that finishes a schedule with removeWhenFinished leaves no next run", () => {
    const once = { maxRuns: 1, removeWhenFinished: true }
    const spent = aSchedule(once)
    const schedule = edited(spent, edit("12:00", { ...once, priority: 7 }))

    const { nextRunAt, finishedAt } = afterNextPlan(schedule)

    assert.deepEqual([nextRunAt, finishedAt], [null, spent.updatedAt])
  })
})

test("the next run of a schedule inserted by SQL is its first occurrence, not the time of the insert", () => {
  const inserted = aSchedule({}, { nextRunAt: at("08:10"), coveredUntil: at("08:10") })

  assert.equal(nextOf({ ...inserted, edits: [] }), "09:00")
})

test("the next run of an inserted schedule that was never planned is after its creation", () => {
  const { createdAt, ...rest } = aSchedule({}, { nextRunAt: at("08:10"), coveredUntil: null })

  assert.equal(nextOf({ ...rest, createdAt: at("08:10"), edits: [] }), "09:00")
  assert.ok(createdAt <= at("08:10"))
})

describe("schedules that can't be planned", () => {
  test.each<[string, Schedule, RegExp]>([
    [
      "the time zone of an interval",
      { ...aSchedule({ every: "1h" }), timezone: "Mars/Olympus" },
      /Mars\/Olympus/,
    ],
    [
      "the time zone of a one-time schedule",
      { ...aSchedule({ at: at("09:00") }), timezone: "Mars/Olympus" },
      /Mars\/Olympus/,
    ],
    [
      "a cron",
      { ...aSchedule(), triggers: [{ kind: "cron", cron: "x", dayMatch: "either" }] },
      /expected 5 \(minute hour/,
    ],
    ["an override", { ...aSchedule(), overrides: [{ ...skipped, reason: {} as string }] }, /^overrides\[0\]/],
  ])("lastError names the problem before the first plan: %s", (_, schedule, problem) => {
    const { nextRunAt, lastError } = afterNextPlan(schedule)

    assert.equal(nextRunAt, null)
    assert.match(lastError!, problem)
  })

  test("a schedule that already has lastError is returned unchanged", () => {
    const broken = aSchedule({}, { lastError: "why", nextRunAt: null })

    assert.deepEqual(afterNextPlan(broken), broken)
  })
})

test("the next run after an edit depends on unfinished runs, because a skipped occurrence doesn't count towards maxRuns", () => {
  const schedule = edited(aSchedule({ maxRuns: 1 }), edit("09:30", { maxRuns: 1, priority: 7 }))

  const free = afterNextPlan(schedule)
  const held = afterNextPlan(schedule, withUnfinished(aRunRef({ id: "other" })))

  assert.deepEqual([free.firedCount, free.nextRunAt], [1, null])
  assert.deepEqual([held.firedCount, held.finishedAt, clock(held.nextRunAt!)], [0, null, "10:00"])
})
