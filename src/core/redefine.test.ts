import { assert, describe, test } from "vitest"
import { aDefinition, aSchedule, at, clock } from "../../test/support/records.ts"
import type { ScheduleOptions } from "./options.ts"
import { isTimedOtherwise, redefine } from "./redefine.ts"
import type { OccurrenceOverride } from "./schedule.ts"

const NOW = at("08:40")

/** Of the next occurrence an operator said that it comes ten minutes late. */
const moved = { scheduledFor: at("09:00"), dueAt: at("09:10"), reason: null, by: null }
const stored = aSchedule({}, { overrides: [moved], nextRunAt: at("09:10"), declaredAs: "x" })

function redefined(options: ScheduleOptions) {
  return redefine(stored, aDefinition(options), NOW)
}

describe("another timetable", () => {
  test.each<[string, ScheduleOptions, string]>([
    ["triggers", { cron: "30 * * * *" }, "09:30"],
    ["timezone", { timezone: "Asia/Kolkata" }, "09:30"],
    ["startsAt", { startsAt: at("10:30") }, "11:00"],
    ["endsAt", { endsAt: at("08:50") }, "never"],
    ["triggers beside another task's priority", { cron: "30 * * * *", priority: 5 }, "09:30"],
  ])(
    "%s: the schedule is planned from now, without what was said of occurrences it hasn't",
    (_, options, next) => {
      const { nextRunAt, overrides } = redefined(options)

      assert.equal(clock(nextRunAt), next)
      assert.deepEqual(overrides, [])
      assert.isTrue(isTimedOtherwise(aDefinition(), aDefinition(options)))
    },
  )
})

describe("what was said of occurrences that another timetable has, too", () => {
  const NOTHING = { reason: null, by: null }
  const skipped = (time: string) => ({ scheduledFor: at(time), dueAt: null, ...NOTHING })
  const movedTo = (time: string, to: string) => ({ scheduledFor: at(time), dueAt: at(to), ...NOTHING })

  test.each<[string, ScheduleOptions, readonly OccurrenceOverride[], readonly string[]]>([
    ["a skip stays", { cron: "0 12,18 * * *" }, [skipped("12:00"), skipped("13:00")], ["12:00"]],
    ["a move stays", { cron: "0 9,18 * * *" }, [movedTo("09:00", "09:50")], ["09:00"]],
    ["a move past its new neighbour goes", { cron: "*/30 * * * *" }, [movedTo("09:00", "09:50")], []],
    ["a move before its new neighbour goes", { cron: "*/30 * * * *" }, [movedTo("10:00", "09:20")], []],
    ["what is past goes", { cron: "*/30 * * * *" }, [skipped("08:30")], []],
    ["other rules for clock changes", { dst: { gap: "skip" } }, [movedTo("09:00", "09:50")], ["09:00"]],
    ["added occurrences go", { cron: "0 9,18 * * *" }, [movedTo("09:20", "09:20")], []],
  ])("%s", (_, options, overrides, kept) => {
    const edited = redefine(aSchedule({}, { overrides }), aDefinition(options), NOW)

    assert.deepEqual(
      edited.overrides.map(({ scheduledFor }) => clock(scheduledFor)),
      kept,
    )
  })
})

describe("other conditions of the same occurrences", () => {
  test.each<[string, ScheduleOptions, string]>([
    ["jitter", { jitter: "1ms" }, "09:10"],
    ["spacing", { spacing: "1m" }, "09:10"],
    ["maxRuns", { maxRuns: 5 }, "09:10"],
    ["enabled", { enabled: false }, "never"],
    ["jitter beside another priority", { jitter: "1ms", priority: 5 }, "09:10"],
  ])(
    "%s: the schedule is planned from now, and what was said of its occurrences stays",
    (_, options, next) => {
      const { coveredUntil, nextRunAt, overrides } = redefined(options)

      assert.deepEqual([clock(coveredUntil), clock(nextRunAt)], ["08:40", next])
      assert.deepEqual(overrides, [moved])
      assert.isTrue(isTimedOtherwise(aDefinition(), aDefinition(options)))
    },
  )
})

describe("anything else", () => {
  test.each<[string, ScheduleOptions]>([
    ["priority", { priority: 5 }],
    ["catchUp", { catchUp: "none" }],
    ["overlap", { overlap: "queue" }],
    ["description", { description: "now with graphs" }],
  ])("%s: the next occurrence doesn't move", (_, options) => {
    const { coveredUntil, nextRunAt, overrides } = redefined(options)

    assert.deepEqual([clock(coveredUntil), clock(nextRunAt), overrides], ["08:00", "09:10", [moved]])
    assert.isFalse(isTimedOtherwise(aDefinition(), aDefinition(options)))
  })
})

test("each change is a revision of its own, with the instant it was made at", () => {
  const { revision, updatedAt, declaredAs } = redefined({ priority: 5 })

  assert.deepEqual([revision, updatedAt, declaredAs], [stored.revision + 1, NOW, "x"])
})

test("the same definition again is no revision; how it was declared is noted", () => {
  assert.deepEqual(redefine(stored, aDefinition(), NOW, "y"), { ...stored, declaredAs: "y" })
})
