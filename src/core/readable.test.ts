import fc from "fast-check"
import { assert, describe, test } from "vitest"
import { assertProperty } from "../../test/support/properties.ts"
import { aSchedule, at, progressAfter } from "../../test/support/records.ts"
import { planFire, planSettle } from "./fire.ts"
import { EARLIEST, LATEST } from "./instant.ts"
import { NO_FACTS } from "./plan.ts"
import type { Schedule } from "./schedule.ts"

/** Where a store lets others write, anything that JSON can say may stand in a schedule: a plan tells, and never hangs. */

const NOW = at("12:10")

const hostileNumber = fc.oneof(
  fc.double(),
  fc.constantFrom(1e300, -1e300, 8.64e15, 8.64e15 + 1, LATEST, EARLIEST, LATEST + 1, EARLIEST - 1),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, 0, -0, 0.5, NOW, NOW - 1, NOW + 1, NOW + 0.5),
)
const hostile = fc.oneof(hostileNumber, fc.jsonValue({ maxDepth: 2 }))
const oneOf = (...words: readonly string[]) => fc.oneof(fc.constantFrom(...words), hostile)

const trigger = fc.oneof(
  fc.record({ kind: fc.constant("every"), everyMs: hostile, anchor: hostile }, { requiredKeys: ["kind"] }),
  fc.record({ kind: fc.constant("at"), at: hostile }, { requiredKeys: ["kind"] }),
  fc.record({ kind: fc.constant("cron"), cron: oneOf("* * * * *"), dayMatch: oneOf("either", "both") }),
  hostile,
)
const override = fc.oneof(fc.record({ scheduledFor: hostileNumber, dueAt: hostile }), hostile)
const pause = fc.oneof(fc.record({ at: hostileNumber, until: hostile }), hostile)

const parts = fc.record(
  {
    triggers: fc.oneof(fc.array(trigger, { maxLength: 3 }), hostile),
    overrides: fc.oneof(fc.array(override, { maxLength: 3 }), hostile),
    paused: fc.oneof(fc.constant(null), pause),
    coveredUntil: fc.oneof(fc.constant(at("08:00")), fc.constant(null), hostileNumber),
    createdAt: hostileNumber,
    timezone: oneOf("UTC", "Europe/Paris"),
    firedCount: hostileNumber,
  },
  { requiredKeys: [] },
)

test("whatever its parts are, a schedule has a plan, with instants or with what is wrong", () => {
  assertProperty(
    fc.property(parts, (hostileParts) => {
      const schedule = { ...aSchedule(), ...hostileParts } as Schedule

      for (const plan of [planFire(schedule, NO_FACTS, NOW), planSettle(schedule, NO_FACTS, NOW)]) {
        if (plan === null) continue
        const { nextRunAt, lastError, coveredUntil } = progressAfter(plan)
        if (lastError !== null) {
          assert.isNull(nextRunAt)
          assert.notMatch(lastError, /undefined|Cannot read|is not a function|is not iterable/)
          continue
        }
        for (const instant of [nextRunAt, coveredUntil]) {
          if (instant !== null)
            assert.isTrue(Number.isInteger(instant) && Math.abs(instant) <= 8.64e15, `${instant}`)
        }
        for (const { scheduledFor } of plan.runs) assert.isTrue(Number.isInteger(scheduledFor))
      }
    }),
    { numRuns: 2_000 },
  )
})

describe("what can't be read is told with its place, its value and what is allowed", () => {
  test.each([
    [{ overrides: [{ scheduledFor: 1e300, dueAt: null }] }, /^overrides\[0\] is .*1e\+300.*; write /],
    [{ overrides: "x" }, /^overrides is "x".*; write a list/],
    [{ triggers: [{ kind: "every", everyMs: 1 }] }, /^triggers\[0\] is .*; write .*1000 or more/],
    [{ triggers: [{ kind: "at", at: null }] }, /^triggers\[0\] is \{"kind":"at","at":null\}/],
    [{ paused: { at: "x", until: null } }, /^paused is .*; write \{"at": ms/],
    [{ coveredUntil: Number.POSITIVE_INFINITY }, /^coveredUntil is .*years 1 to 9999/],
  ])("%j", (hostileParts, said) => {
    const schedule = { ...aSchedule(), ...hostileParts } as Schedule

    assert.match(progressAfter(planFire(schedule, NO_FACTS, NOW)).lastError!, said)
  })
})
