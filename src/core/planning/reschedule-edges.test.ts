import { assert, describe, test } from "vitest"
import {
  applied,
  aSchedule,
  at,
  changes,
  clock,
  ledger,
  moved,
  progressAfter,
  skipped,
  thrownBy,
} from "../../../test/support/records.ts"
import type { Schedule } from "../schedule/schedule.ts"
import { NO_FACTS } from "./plan.ts"
import { reschedule, resume } from "./steer.ts"

// Edge cases of a reschedule: last occurrences, paused and finished schedules, earlier overrides.

const why = { reason: "holiday", by: "ada" }
const NOW = at("08:10")
const paused = { at: NOW, until: null, reason: null, by: null }

describe("reschedule", () => {
  const to = (schedule: Schedule, time: string, now = NOW) =>
    reschedule(schedule, at(time), why, NO_FACTS, now)

  test("a reschedule of a paused schedule fires no owed occurrence and passes them over", () => {
    const schedule = aSchedule({}, { paused, nextRunAt: null })

    const plan = to(schedule, "12:30", at("10:30"))
    const ended = resume(applied(schedule, plan), NO_FACTS, at("11:30"))!

    assert.deepEqual([plan.runs, progressAfter(plan).nextRunAt], [[], null])
    assert.deepEqual(ledger(ended.runs), ["09:00-11:00 (3) skipped operator"])
    assert.equal(clock(progressAfter(ended).nextRunAt), "12:30")
  })

  test("a reschedule of the only occurrence to an earlier time replaces it", () => {
    const plan = to(aSchedule({ at: at("12:00") }), "09:00")

    assert.deepEqual(changes(progressAfter(plan).overrides), [
      "09:00 to 09:00 (holiday, ada)",
      "12:00 left out (holiday, ada)",
    ])
    assert.equal(clock(progressAfter(plan).nextRunAt), "09:00")
  })

  test("a reschedule to the time of the next occurrence changes only that occurrence", () => {
    const plan = to(aSchedule(), "09:00")

    assert.deepEqual(changes(progressAfter(plan).overrides), ["09:00 to 09:00 (holiday, ada)"])
  })

  test("a second reschedule to the same time replaces the first", () => {
    const schedule = aSchedule()
    const first = applied(
      schedule,
      reschedule(schedule, at("08:30"), { reason: "first", by: null }, NO_FACTS, NOW),
    )

    assert.deepEqual(changes(progressAfter(to(first, "08:30")).overrides), ["08:30 to 08:30 (holiday, ada)"])
  })

  test("a reschedule to an earlier time replaces the override of the last occurrence", () => {
    const schedule = aSchedule({ at: at("09:00") }, { overrides: [moved("09:00", "09:20")] })

    assert.deepEqual(changes(progressAfter(to(schedule, "08:30")).overrides), [
      "08:30 to 08:30 (holiday, ada)",
      "09:00 left out (holiday, ada)",
    ])
  })

  test("a reschedule to an earlier time keeps the overrides of later occurrences", () => {
    const schedule = aSchedule({}, { overrides: [moved("09:00", "09:20"), skipped("12:00")] })

    assert.deepEqual(changes(progressAfter(to(schedule, "08:30")).overrides), [
      "09:00 to 09:20 (null, null)",
      "12:00 left out (null, null)",
      "08:30 to 08:30 (holiday, ada)",
    ])
  })

  test("a reschedule of a finished schedule keeps the overrides of its past", () => {
    const schedule = aSchedule({ at: at("07:00") }, { overrides: [skipped("06:00")] })

    assert.deepEqual(changes(progressAfter(to(schedule, "09:00")).overrides), [
      "06:00 left out (null, null)",
      "09:00 to 09:00 (holiday, ada)",
    ])
  })

  test("a reschedule to a later time skips occurrences moved up to that time and keeps other overrides", () => {
    const overrides = [moved("12:00", "11:30"), skipped("13:00"), moved("14:00", "14:30")]

    assert.deepEqual(changes(progressAfter(to(aSchedule({}, { overrides }), "11:30")).overrides), [
      "12:00 left out (holiday, ada)",
      "13:00 left out (null, null)",
      "14:00 to 14:30 (null, null)",
      "11:30 to 11:30 (holiday, ada)",
    ])
  })

  test("a reschedule to the time of a skipped occurrence replaces the skip", () => {
    const schedule = aSchedule({}, { overrides: [skipped("11:00")] })

    assert.deepEqual(changes(progressAfter(to(schedule, "11:00")).overrides), [
      "11:00 to 11:00 (holiday, ada)",
    ])
  })

  test("a reschedule to coveredUntil is refused, and one to 1 ms later is accepted", () => {
    const schedule = aSchedule({}, { coveredUntil: at("08:30") })

    assert.match(
      thrownBy(() => to(schedule, "08:30")).message,
      /everything up to 2026-03-10T08:30:00Z is settled/,
    )
    assert.doesNotThrow(() => to(schedule, "08:30:00.001"))
  })
})
