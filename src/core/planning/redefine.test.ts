import { assert, describe, test } from "vitest"
import { aDefinition, aSchedule, at, clock } from "../../../test/support/records.ts"
import type { ScheduleOptions } from "../options/options.ts"
import type { OccurrenceOverride } from "../schedule/schedule.ts"
import { newScheduleOf } from "../schedule/stored-schedule.ts"
import { hasOtherTiming, redefine } from "./redefine.ts"

const NOW = at("08:40")

/** An operator moved the next occurrence ten minutes later. */
const moved = { scheduledFor: at("09:00"), dueAt: at("09:10"), reason: null, by: null }
const stored = aSchedule({}, { overrides: [moved], nextRunAt: at("09:10"), declaredAs: "x" })

function redefined(options: ScheduleOptions) {
  return redefine(stored, aDefinition(options), NOW)
}

describe("a changed timetable", () => {
  test.each<[string, ScheduleOptions, string]>([
    ["triggers", { cron: "30 * * * *" }, "09:30"],
    ["timezone", { timezone: "Asia/Kolkata" }, "09:30"],
    ["startsAt", { startsAt: at("10:30") }, "11:00"],
    ["endsAt", { endsAt: at("08:50") }, "never"],
    ["triggers and priority", { cron: "30 * * * *", priority: 5 }, "09:30"],
  ])(
    "after a change of %s the schedule is planned from now, without overrides of occurrences it no longer has",
    (_, options, next) => {
      const { nextRunAt, overrides } = redefined(options)

      assert.equal(clock(nextRunAt), next)
      assert.deepEqual(overrides, [])
      assert.isTrue(hasOtherTiming(aDefinition(), aDefinition(options)))
    },
  )
})

describe("overrides after a change of the timetable", () => {
  const NOTHING = { reason: null, by: null }
  const skipped = (time: string) => ({ scheduledFor: at(time), dueAt: null, ...NOTHING })
  const movedTo = (time: string, to: string) => ({ scheduledFor: at(time), dueAt: at(to), ...NOTHING })

  test.each<[string, ScheduleOptions, readonly OccurrenceOverride[], readonly string[]]>([
    [
      "a skip is kept if the new timetable has the occurrence",
      { cron: "0 12,18 * * *" },
      [skipped("12:00"), skipped("13:00")],
      ["12:00"],
    ],
    [
      "a move is kept if the new timetable has the occurrence",
      { cron: "0 9,18 * * *" },
      [movedTo("09:00", "09:50")],
      ["09:00"],
    ],
    [
      "a move past the next occurrence of the new timetable is dropped",
      { cron: "*/30 * * * *" },
      [movedTo("09:00", "09:50")],
      [],
    ],
    [
      "a move before the previous occurrence of the new timetable is dropped",
      { cron: "*/30 * * * *" },
      [movedTo("10:00", "09:20")],
      [],
    ],
    ["an override of a past occurrence is dropped", { cron: "*/30 * * * *" }, [skipped("08:30")], []],
    [
      "a move is kept if only the rules for clock changes differ",
      { dst: { gap: "skip" } },
      [movedTo("09:00", "09:50")],
      ["09:00"],
    ],
    ["an added occurrence is dropped", { cron: "0 9,18 * * *" }, [movedTo("09:20", "09:20")], []],
  ])("%s", (_, options, overrides, kept) => {
    const edited = redefine(aSchedule({}, { overrides }), aDefinition(options), NOW)

    assert.deepEqual(
      edited.overrides.map(({ scheduledFor }) => clock(scheduledFor)),
      kept,
    )
  })
})

describe("a change of jitter, spacing, maxRuns or enabled", () => {
  test.each<[string, ScheduleOptions, string]>([
    ["jitter", { jitter: "1ms" }, "09:10"],
    ["spacing", { spacing: "1m" }, "09:10"],
    ["maxRuns", { maxRuns: 5 }, "09:10"],
    ["enabled", { enabled: false }, "never"],
    ["jitter and priority", { jitter: "1ms", priority: 5 }, "09:10"],
  ])("after a change of %s the schedule is planned from now and keeps its overrides", (_, options, next) => {
    const { coveredUntil, nextRunAt, overrides } = redefined(options)

    assert.deepEqual([clock(coveredUntil), clock(nextRunAt)], ["08:40", next])
    assert.deepEqual(overrides, [moved])
    assert.isTrue(hasOtherTiming(aDefinition(), aDefinition(options)))
  })
})

describe("a change of any other field", () => {
  test.each<[string, ScheduleOptions]>([
    ["priority", { priority: 5 }],
    ["catchUp", { catchUp: "none" }],
    ["overlap", { overlap: "queue" }],
    ["description", { description: "now with graphs" }],
  ])("a change of %s doesn't move the next occurrence", (_, options) => {
    const { coveredUntil, nextRunAt, overrides } = redefined(options)

    assert.deepEqual([clock(coveredUntil), clock(nextRunAt), overrides], ["08:00", "09:10", [moved]])
    assert.isFalse(hasOtherTiming(aDefinition(), aDefinition(options)))
  })
})

test("each change raises the revision and sets updatedAt", () => {
  const { revision, updatedAt, declaredAs } = redefined({ priority: 5 })

  assert.deepEqual([revision, updatedAt, declaredAs], [stored.revision + 1, NOW, "x"])
})

test("the same definition keeps the revision, and declaredAs is updated", () => {
  assert.deepEqual(redefine(stored, aDefinition(), NOW, "y"), { ...newScheduleOf(stored), declaredAs: "y" })
})
