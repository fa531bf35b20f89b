import { assert, describe, test } from "vitest"
import {
  applied,
  aSchedule,
  at,
  clock,
  firedAt,
  ledger,
  progressAfter,
  thrownBy,
} from "../../../test/support/records.ts"
import type { Schedule } from "../schedule/schedule.ts"
import { NO_FACTS } from "./plan.ts"
import { reschedule } from "./steer.ts"

const why = { reason: null, by: "ada" }
const NOW = at("08:10")

function rescheduled(schedule: Schedule, to: string) {
  const plan = reschedule(schedule, at(to), why, NO_FACTS, NOW)
  return { plan, after: applied(schedule, plan) }
}

describe("a reschedule to an earlier time", () => {
  test("the next occurrence is at the new time, and the timetable goes on after it", () => {
    const { plan, after } = rescheduled(aSchedule(), "08:30")

    assert.deepEqual(plan.runs, [])
    assert.equal(clock(after.nextRunAt), "08:30")
    assert.deepEqual(ledger(firedAt(after, at("08:30"), at("09:00"), at("10:00")).runs), [
      "08:30 schedule",
      "09:00 schedule",
      "10:00 schedule",
    ])
  })

  test("a one-time schedule fires once, at the new time", () => {
    const { plan, after } = rescheduled(aSchedule({ at: at("09:00") }), "08:30")

    assert.deepEqual(plan.runs, [])
    assert.deepEqual(ledger(firedAt(after, at("08:30"), at("09:00")).runs), [
      "08:30 schedule",
      "09:00 skipped operator",
    ])
  })

  test("the last of several occurrences is replaced, and earlier ones aren't", () => {
    const schedule = aSchedule({ endsAt: at("10:30") })
    const early = rescheduled(schedule, "08:30").after
    const late = applied(
      schedule,
      reschedule({ ...schedule, coveredUntil: at("09:00") }, at("09:30"), why, NO_FACTS, at("09:10")),
    )

    assert.deepEqual(ledger(firedAt(early, at("08:30"), at("09:00"), at("10:00")).runs), [
      "08:30 schedule",
      "09:00 schedule",
      "10:00 schedule",
    ])
    assert.deepEqual(ledger(firedAt(late, at("09:30"), at("10:00")).runs), [
      "09:30 schedule",
      "10:00 skipped operator",
    ])
  })

  test("a reschedule to now fires at once", () => {
    const { after } = rescheduled(aSchedule(), "08:10")

    assert.deepEqual(ledger(firedAt(after, NOW).runs), ["08:10 schedule"])
  })

  test("the replaced occurrence gets the given reason, or one that names the new time", () => {
    const once = aSchedule({ at: at("09:00") })
    const withReason = reschedule(once, at("08:30"), { reason: "early close", by: null }, NO_FACTS, NOW)
    const withoutReason = reschedule(once, at("08:30"), why, NO_FACTS, NOW)

    assert.equal(progressAfter(withReason).overrides[1]?.reason, "early close")
    assert.equal(progressAfter(withoutReason).overrides[1]?.reason, "Rescheduled to 2026-03-10T08:30:00Z")
  })
})

test("a reschedule to the time of the next occurrence replaces nothing, and jitter no longer delays that occurrence", () => {
  const { plan, after } = rescheduled(aSchedule({ jitter: "30m" }), "09:00")

  assert.deepEqual(plan.runs, [])
  assert.equal(clock(after.nextRunAt), "09:00")
  assert.deepEqual(ledger(firedAt(after, at("09:00")).runs), ["09:00 schedule"])
})

describe("a reschedule to a later time", () => {
  test("the occurrences before the new time become one record, and the timetable goes on after the new time", () => {
    const { plan, after } = rescheduled(aSchedule(), "11:30")
    const { runs } = firedAt(after, at("11:30"), at("12:00"))

    assert.deepEqual([plan.runs, clock(after.coveredUntil), clock(after.nextRunAt)], [[], "08:00", "11:30"])
    assert.deepEqual(ledger(runs), ["09:00-11:00 (3) skipped operator", "11:30 schedule", "12:00 schedule"])
    assert.equal(runs[0]?.message, "Rescheduled to 2026-03-10T11:30:00Z")
  })

  test("a reschedule to the time of a later occurrence fires that occurrence once", () => {
    const { after } = rescheduled(aSchedule(), "11:00")

    assert.deepEqual(ledger(firedAt(after, at("11:00"), at("12:00")).runs), [
      "09:00-10:00 (2) skipped operator",
      "11:00 schedule",
      "12:00 schedule",
    ])
  })

  test("overrides after the new time are kept, and earlier overrides are dropped", () => {
    const overrides = ["09:00", "13:00"].map((time) => ({ scheduledFor: at(time), dueAt: null, ...why }))

    const { after } = rescheduled(aSchedule({}, { overrides }), "11:30")

    assert.deepEqual(
      after.overrides.map(({ scheduledFor }) => clock(scheduledFor)),
      ["13:00", "11:30"],
    )
  })

  test("an occurrence moved to before the new time is skipped too", () => {
    const overrides = [{ scheduledFor: at("12:00"), dueAt: at("11:20"), ...why }]

    const { after } = rescheduled(aSchedule({}, { overrides }), "11:30")

    assert.equal(clock(after.nextRunAt), "11:30")
    assert.deepEqual(ledger(firedAt(after, at("11:30"), at("12:00")).runs), [
      "09:00-11:00 (3) skipped operator",
      "11:30 schedule",
      "12:00 skipped operator",
    ])
  })
})

describe("a reschedule of a schedule without a next run", () => {
  test("a finished schedule gets one more run", () => {
    const finished = firedAt(aSchedule({ at: at("08:05") }), at("08:05")).schedule

    const { after } = rescheduled(finished, "09:30")

    assert.deepInclude(after, { nextRunAt: at("09:30"), finishedAt: null })
    const { schedule, runs } = firedAt(after, at("09:30"))
    assert.deepEqual(ledger(runs), ["09:30 schedule"])
    assert.equal(schedule.finishedAt, at("09:30"))
  })

  test("a paused schedule stays paused", () => {
    const paused = { at: NOW, until: null, reason: null, by: null }

    const { after } = rescheduled(aSchedule({}, { paused, nextRunAt: null }), "09:30")

    assert.deepInclude(after, { nextRunAt: null, paused })
  })

  test("a disabled schedule still has no next run", () => {
    assert.isNull(rescheduled(aSchedule({ enabled: false }), "09:30").after.nextRunAt)
  })

  test("a schedule that was never planned begins with the new time", () => {
    const { after } = rescheduled(aSchedule({}, { coveredUntil: null, nextRunAt: null }), "08:30")

    assert.deepInclude(after, { coveredUntil: NOW, nextRunAt: at("08:30") })
  })
})

test.each([
  ["in the past", aSchedule(), "08:09:59.999", "that is in the past"],
  [
    "settled already",
    aSchedule({}, { coveredUntil: at("10:00") }),
    "09:30",
    "everything up to 2026-03-10T10:00:00Z is settled",
  ],
  [
    "for a schedule that reached maxRuns",
    aSchedule({ maxRuns: 3 }, { firedCount: 3 }),
    "09:30",
    "it has had its 3 runs",
  ],
])("a reschedule to a time %s is refused", (_, schedule, to, problem) => {
  const error = thrownBy(() => reschedule(schedule, at(to), why, NO_FACTS, NOW))

  assert.equal(error.code, "BELFRY_OCCURRENCE_INVALID")
  assert.match(error.message, new RegExp(`^"report" can't be rescheduled to .*: ${problem}\\.$`))
})

test("a reschedule first fires the owed occurrences", () => {
  const schedule = aSchedule()

  const plan = reschedule(schedule, at("12:30"), why, NO_FACTS, at("10:30"))

  assert.deepEqual(ledger(plan.runs), ["09:00 skipped coalesced", "10:00 catchup"])
  assert.equal(clock(progressAfter(plan).nextRunAt), "12:30")
})
