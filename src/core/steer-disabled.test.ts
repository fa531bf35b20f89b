import { assert, describe, test } from "vitest"
import { applied, aSchedule, at, clock, ledger, progressAfter, thrownBy } from "../../test/support/records.ts"
import { planFire } from "./fire.ts"
import { NO_FACTS } from "./plan.ts"
import { redefine } from "./redefine.ts"
import type { Schedule } from "./schedule.ts"
import { move, pause, reschedule, resume, skip } from "./steer.ts"

/** A disabled schedule has no occurrences: nothing that is done to it fires or records any of the time it was disabled. */

const why = { reason: "holiday", by: "ada" }
const paused = { at: at("08:10"), until: null, reason: null, by: null }
const ALL = { catchUp: "all", overlap: "allow" } as const

const DISABLED: readonly [string, Schedule][] = [
  ["disabled", aSchedule({ enabled: false, ...ALL }, { nextRunAt: null })],
  ["disabled and never planned", aSchedule({ enabled: false }, { nextRunAt: null, coveredUntil: null })],
  ["disabled and paused", aSchedule({ enabled: false, ...ALL }, { nextRunAt: null, paused })],
  ["disabled, once only", aSchedule({ enabled: false, at: at("09:00") }, { nextRunAt: null })],
]

describe.each(DISABLED)("one that is %s", (_, schedule) => {
  test("is paused and resumed without a record, and stays due never", () => {
    const during = pause(schedule, { ...why, until: at("12:00") }, NO_FACTS, at("10:30"))
    const held = applied(schedule, during)
    const after = resume(held, NO_FACTS, at("11:30"))!

    assert.deepEqual([...during.runs, ...after.runs], [])
    assert.deepEqual(progressAfter(during).paused, {
      at: schedule.paused?.at ?? at("10:30"),
      until: at("12:00"),
      ...why,
    })
    assert.isNull(progressAfter(during).nextRunAt)
    assert.deepInclude(progressAfter(after), { nextRunAt: null, paused: null })
    assert.deepEqual(planFire(applied(held, after), NO_FACTS, at("13:00")).runs, [])
  })
})

test("reschedule passes over only what is to come", () => {
  const disabled = aSchedule({ enabled: false, ...ALL })
  const later = applied(disabled, reschedule(disabled, at("14:30"), why, NO_FACTS, at("10:30")))

  const enabled = redefine(later, { ...later, enabled: true }, at("12:30"))

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
])("of one that is %s, the next occurrence is one to come", (_, schedule) => {
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

test("what was said of an occurrence in that time goes with it", () => {
  const said = (time: string) => ({ scheduledFor: at(time), dueAt: null, reason: null, by: null })
  const overrides = ["09:00", "10:30", "11:00"].map(said)
  const schedule = aSchedule({ enabled: false }, { nextRunAt: null, paused, overrides })

  const { overrides: kept } = progressAfter(reschedule(schedule, at("10:40"), why, NO_FACTS, at("10:30")))

  assert.deepEqual(
    kept.map(({ scheduledFor }) => clock(scheduledFor)),
    ["11:00", "10:40"],
  )
})

test("enabling goes on from then, whatever was done to it before", () => {
  const disabled = aSchedule({ enabled: false, ...ALL }, { nextRunAt: null })
  const held = applied(disabled, pause(disabled, { ...why, until: null }, NO_FACTS, at("10:30")))
  const resumed = applied(held, resume(held, NO_FACTS, at("11:30"))!)

  const enabled = redefine(resumed, { ...resumed, enabled: true }, at("12:30"))

  assert.equal(clock(enabled.nextRunAt), "13:00")
  assert.deepEqual(ledger(planFire(enabled, NO_FACTS, at("13:00")).runs), ["13:00 schedule"])
})
