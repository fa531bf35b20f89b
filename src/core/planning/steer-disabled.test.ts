import { assert, describe, test } from "vitest"
import {
  applied,
  aSchedule,
  at,
  clock,
  ledger,
  progressAfter,
  thrownBy,
} from "../../../test/support/records.ts"
import type { Schedule } from "../schedule/schedule.ts"
import { storedSchedule } from "../schedule/stored-schedule.ts"
import { planFire } from "./fire.ts"
import { NO_FACTS } from "./plan.ts"
import { redefine } from "./redefine.ts"
import { move, pause, reschedule, resume, skip } from "./steer.ts"

// A disabled schedule has no occurrences, so no step of an operator fires or records occurrences of the disabled time.

const why = { reason: "holiday", by: "ada" }
const paused = { at: at("08:10"), until: null, reason: null, by: null }
const ALL = { catchUp: "all", overlap: "allow" } as const

const DISABLED: readonly [string, Schedule][] = [
  ["disabled", aSchedule({ enabled: false, ...ALL }, { nextRunAt: null })],
  ["disabled and never planned", aSchedule({ enabled: false }, { nextRunAt: null, coveredUntil: null })],
  ["disabled and paused", aSchedule({ enabled: false, ...ALL }, { nextRunAt: null, paused })],
  ["disabled and one-time", aSchedule({ enabled: false, at: at("09:00") }, { nextRunAt: null })],
]

describe.each(DISABLED)("a schedule that is %s", (_, schedule) => {
  test("is paused and resumed without a record and still has no next run", () => {
    const during = pause(schedule, { ...why, until: at("12:00") }, NO_FACTS, at("10:30"))
    const pausedSchedule = applied(schedule, during)
    const after = resume(pausedSchedule, NO_FACTS, at("11:30"))!

    assert.deepEqual([...during.runs, ...after.runs], [])
    assert.deepEqual(progressAfter(during).paused, {
      at: schedule.paused?.at ?? at("10:30"),
      until: at("12:00"),
      ...why,
    })
    assert.isNull(progressAfter(during).nextRunAt)
    assert.deepInclude(progressAfter(after), { nextRunAt: null, paused: null })
    assert.deepEqual(planFire(applied(pausedSchedule, after), NO_FACTS, at("13:00")).runs, [])
  })
})

test("a reschedule of a disabled schedule passes over only occurrences after now", () => {
  const disabled = aSchedule({ enabled: false, ...ALL })
  const later = applied(disabled, reschedule(disabled, at("14:30"), why, NO_FACTS, at("10:30")))

  const enabled = storedSchedule(redefine(later, { ...later, enabled: true }, at("12:30")), 8)

  assert.deepEqual(
    [clock(later.coveredUntil), later.nextRunAt, clock(enabled.nextRunAt)],
    ["10:30", null, "14:30"],
  )
  assert.deepEqual(ledger(planFire(enabled, NO_FACTS, at("14:30")).runs), [
    "13:00-14:00 (2) skipped operator",
    "14:30 schedule",
  ])
})

test.each([
  ["disabled", aSchedule({ enabled: false })],
  ["paused", aSchedule({}, { paused, nextRunAt: null })],
])("the next occurrence of a %s schedule is after now", (_, schedule) => {
  const skipped = progressAfter(skip(schedule, null, why, at("10:30"))).overrides
  const moved = progressAfter(move(schedule, null, at("11:20"), why, at("10:30"))).overrides

  assert.deepEqual(
    [...skipped, ...moved].map(({ scheduledFor }) => clock(scheduledFor)),
    ["11:00", "11:00"],
  )
  assert.match(
    thrownBy(() => skip(schedule, at("10:00"), why, at("10:30"))).message,
    /The next is at .*11:00/,
  )
})

test("overrides of occurrences in the disabled time are dropped", () => {
  const skippedAt = (time: string) => ({ scheduledFor: at(time), dueAt: null, reason: null, by: null })
  const overrides = ["09:00", "10:30", "11:00"].map(skippedAt)
  const schedule = aSchedule({ enabled: false }, { nextRunAt: null, paused, overrides })

  const { overrides: kept } = progressAfter(reschedule(schedule, at("10:40"), why, NO_FACTS, at("10:30")))

  assert.deepEqual(
    kept.map(({ scheduledFor }) => clock(scheduledFor)),
    ["11:00", "10:40"],
  )
})

test("an enabled schedule goes on from then, whatever was done to it while disabled", () => {
  const disabled = aSchedule({ enabled: false, ...ALL }, { nextRunAt: null })
  const pausedSchedule = applied(disabled, pause(disabled, { ...why, until: null }, NO_FACTS, at("10:30")))
  const resumed = applied(pausedSchedule, resume(pausedSchedule, NO_FACTS, at("11:30"))!)

  const enabled = storedSchedule(redefine(resumed, { ...resumed, enabled: true }, at("12:30")), 8)

  assert.equal(clock(enabled.nextRunAt), "13:00")
  assert.deepEqual(ledger(planFire(enabled, NO_FACTS, at("13:00")).runs), ["13:00 schedule"])
})
