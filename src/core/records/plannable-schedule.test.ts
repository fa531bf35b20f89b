import fc from "fast-check"
import { assert, describe, test } from "vitest"
import { assertProperty } from "../../../test/support/properties.ts"
import { aSchedule, at, progressAfter, thrownBy } from "../../../test/support/records.ts"
import { planFire, planSettle } from "../planning/fire.ts"
import { NO_FACTS } from "../planning/plan.ts"
import type { Schedule } from "../schedule/schedule.ts"
import { DURATION_MAX } from "../time/duration.ts"
import { EARLIEST, LATEST } from "../time/instant.ts"
import { unreadableSchedule } from "./damaged-records.ts"
import { assertPlannable } from "./plannable-schedule.ts"

// In stores that other programs can write to, a schedule can hold any JSON value. A plan must report it and never hang.

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

test("a schedule with any field values has a plan, with valid instants or with lastError", () => {
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

const lastErrorOf = (parts: object) =>
  progressAfter(planFire({ ...aSchedule(), ...parts } as Schedule, NO_FACTS, NOW)).lastError

describe("unreadable fields", () => {
  const TRIGGER_FORMS =
    '{"kind": "cron", "cron": text, "dayMatch": "either" or "both"}, ' +
    '{"kind": "every", "everyMs": 1000 or more, "anchor": ms or null} or {"kind": "at", "at": ms}'
  const OVERRIDE_FORM = '{"scheduledFor": ms, "dueAt": ms or null}'
  const PAUSE_FORM = '{"at": ms, "until": ms or null}'
  const INSTANT = "an instant of the years 1 to 9999"
  const every = (fields: object) => ({ kind: "every", everyMs: 1_000, anchor: null, ...fields })
  const override = (fields: object) => ({ scheduledFor: 0, dueAt: null, ...fields })

  const TRIGGERS: readonly unknown[] = [
    ...[null, 5, "at", [], {}],
    ...[
      { kind: "crontab", cron: "@daily", dayMatch: "both" },
      { kind: "cron", cron: 5, dayMatch: "both" },
    ],
    ...[
      { kind: "cron", cron: "@daily", dayMatch: "any" },
      { kind: "at", at: null },
    ],
    ...[every({ everyMs: 999 }), every({ everyMs: 1_000.5 }), every({ everyMs: DURATION_MAX + 1 })],
    every({ anchor: LATEST + 1 }),
  ]
  const OVERRIDES: readonly unknown[] = [
    ...[null, 5, []],
    ...[override({ scheduledFor: 1e300 }), override({ scheduledFor: 0.5 }), override({ dueAt: "x" })],
  ]
  const PAUSES: readonly unknown[] = ["x", [], { at: "x", until: null }, { at: 0, until: EARLIEST - 1 }]

  const UNREADABLE: readonly (readonly [place: string, value: unknown, parts: object, allowed: string])[] = [
    ...TRIGGERS.map((each) => ["triggers[0]", each, { triggers: [each] }, TRIGGER_FORMS] as const),
    ...OVERRIDES.map(
      (each) => ["overrides[1]", each, { overrides: [override({}), each] }, OVERRIDE_FORM] as const,
    ),
    ...PAUSES.map((paused) => ["paused", paused, { paused }, PAUSE_FORM] as const),
    ["overrides", "x", { overrides: "x" }, "a list of at most 250"],
    ["triggers", {}, { triggers: {} }, "a list of at most 250"],
    ["startsAt", 1e20, { startsAt: 1e20 }, INSTANT],
    ["endsAt", EARLIEST - 1, { endsAt: EARLIEST - 1 }, INSTANT],
    ["createdAt", EARLIEST - 1, { createdAt: EARLIEST - 1 }, INSTANT],
    ["coveredUntil", LATEST + 1, { coveredUntil: LATEST + 1 }, INSTANT],
    ["nextRunAt", 0.5, { nextRunAt: 0.5 }, INSTANT],
    ["firedCount", 0.5, { firedCount: 0.5 }, "a whole number"],
  ]

  test.each(UNREADABLE)(
    "lastError names the field %s, its value %j and the allowed form",
    (place, value, parts, allowed) => {
      assert.equal(
        lastErrorOf(parts),
        `${place} is ${JSON.stringify(value)}, which can't be read; write ${allowed}.`,
      )
    },
  )

  test("lastError shows at most 80 characters of the value", () => {
    const triggers = Array(251).fill({ kind: "at", at: NOW })

    assert.equal(
      lastErrorOf({ triggers }),
      `triggers is ${JSON.stringify(triggers).slice(0, 80)}, which can't be read; write a list of at most 250.`,
    )
    assert.match(lastErrorOf({ paused: undefined })!, /^paused is missing, which can't be read/)
  })

  test("lastError of a schedule that the store couldn't read is the store's message", () => {
    const schedule = unreadableSchedule({ id: "report", version: 1 }, "payload is no JSON")

    assert.equal(lastErrorOf(schedule), "payload is no JSON")
  })
})

test.each([
  { triggers: [{ kind: "every", everyMs: 1_000, anchor: EARLIEST }] },
  { triggers: [{ kind: "every", everyMs: DURATION_MAX }] },
  { triggers: [{ kind: "at", at: LATEST }] },
  { triggers: [{ kind: "cron", cron: "@daily", dayMatch: "both" }] },
  { triggers: Array(250).fill({ kind: "at", at: NOW }) },
  { paused: { at: NOW, until: LATEST } },
  { startsAt: EARLIEST, endsAt: LATEST },
  { overrides: [{ scheduledFor: EARLIEST, dueAt: LATEST }] },
])("a value at the limits of the options can be read: %j", (parts) => {
  assert.isNull(lastErrorOf(parts))
})

test("the error for an unreadable schedule has the code BELFRY_SCHEDULE_INVALID", () => {
  const damaged = { ...aSchedule(), createdAt: EARLIEST - 1 }

  assert.equal(thrownBy(() => assertPlannable(damaged)).code, "BELFRY_SCHEDULE_INVALID")
})
