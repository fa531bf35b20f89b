import { assert, describe, test } from "vitest"
import {
  applied,
  aSchedule,
  at,
  clock,
  firedAt,
  ledger,
  MADE_AT,
  moved,
  progressAfter,
  skipped,
  thrownBy,
} from "../../../test/support/records.ts"
import { OVERRIDES_MAX, type Schedule } from "../schedule/schedule.ts"
import { formatInstant, HOUR } from "../time/instant.ts"
import { NO_FACTS } from "./plan.ts"
import { move, pause, replan, restore, resume, skip } from "./steer.ts"

const why = { reason: "holiday", by: "ada" }
const NOW = at("08:10")

const paused = { at: NOW, until: null, reason: null, by: null }

describe("pause", () => {
  test("a pause stores its author, reason and end, and the schedule is due at that end", () => {
    const plan = pause(aSchedule(), { ...why, until: at("12:00") }, NO_FACTS, NOW)

    assert.deepEqual(progressAfter(plan).paused, { at: NOW, until: at("12:00"), ...why })
    assert.equal(clock(progressAfter(plan).nextRunAt), "12:00")
    assert.deepInclude(plan, { runs: [], ifVersion: 7 })
  })

  test("a schedule paused without an end has no next run", () => {
    assert.isNull(progressAfter(pause(aSchedule(), { ...why, until: null }, NO_FACTS, NOW)).nextRunAt)
  })

  test("pausing again changes the reason and the end of the pause, but not its start", () => {
    const schedule = aSchedule({}, { paused })

    const plan = pause(schedule, { reason: "longer", by: null, until: at("20:00") }, NO_FACTS, at("11:00"))

    assert.deepEqual(progressAfter(plan).paused, { at: NOW, until: at("20:00"), reason: "longer", by: null })
  })

  test.each([NOW, NOW - 1])("a pause whose end is not in the future is refused", (until) => {
    const error = thrownBy(() => pause(aSchedule(), { ...why, until }, NO_FACTS, NOW))

    assert.equal(error.code, "BELFRY_SCHEDULE_INVALID")
    assert.match(error.message, /^Schedule "report" can't be paused until .*: that is not in the future\.$/)
  })
})

test("a pause first fires the owed occurrences", () => {
  const plan = pause(aSchedule(), { ...why, until: null }, NO_FACTS, at("10:30"))

  assert.deepEqual(ledger(plan.runs), ["09:00 skipped coalesced", "10:00 catchup"])
  assert.deepInclude(plan.progress, { nextRunAt: null, coveredUntil: at("10:00") })
})

describe("resume", () => {
  test("resume records the pause as one range, and the schedule goes on from now", () => {
    const plan = resume(aSchedule({}, { paused }), NO_FACTS, at("11:30"))

    assert.deepEqual(ledger(plan!.runs), ["09:00-11:00 (3) skipped paused"])
    assert.deepInclude(plan!.progress, { paused: null, nextRunAt: at("12:00"), coveredUntil: at("11:30") })
  })

  test("resume of a schedule that isn't paused changes nothing", () => {
    assert.isNull(resume(aSchedule(), NO_FACTS, NOW))
  })
})

describe("skip", () => {
  test("skip omits the next occurrence, which is recorded at its time", () => {
    const schedule = aSchedule()

    const after = applied(schedule, skip(schedule, null, why, NOW))

    assert.deepEqual(after.overrides, [{ scheduledFor: at("09:00"), dueAt: null, ...why }])
    const { runs } = firedAt(after, at("09:00"), at("10:00"))
    assert.deepEqual(ledger(runs), ["09:00 skipped operator", "10:00 schedule"])
    assert.equal(runs[0]?.message, "holiday")
  })

  test("skip omits a given occurrence", () => {
    const plan = skip(aSchedule(), at("11:00"), why, NOW)

    assert.deepEqual(progressAfter(plan).overrides, [{ scheduledFor: at("11:00"), dueAt: null, ...why }])
    assert.equal(clock(progressAfter(plan).nextRunAt), "09:00")
  })

  test("skip of a moved occurrence replaces the move", () => {
    const plan = skip(aSchedule({}, { overrides: [moved("09:00", "09:30")] }), at("09:00"), why, NOW)

    assert.deepEqual(
      progressAfter(plan).overrides.map(({ dueAt }) => dueAt),
      [null],
    )
  })

  test.each([
    [
      "between occurrences",
      aSchedule(),
      "09:30",
      "no occurrence to come at 2026-03-10T09:30:00Z. The next is at 2026-03-10T10:00:00Z.",
    ],
    [
      "settled",
      aSchedule(),
      "07:00",
      "no occurrence to come at 2026-03-10T07:00:00Z. The next is at 2026-03-10T09:00:00Z.",
    ],
    [
      "after the end",
      aSchedule({ endsAt: at("10:00") }),
      "11:00",
      "no occurrence to come at 2026-03-10T11:00:00Z.",
    ],
    ["of a finished schedule", aSchedule({ at: at("07:00") }), null, "no occurrence to come."],
    [
      "of a schedule that reached maxRuns",
      aSchedule({ maxRuns: 2 }, { firedCount: 2 }),
      null,
      "no occurrence to come.",
    ],
  ])("skip of a time that is no future occurrence is refused: %s", (_, schedule, time, problem) => {
    const error = thrownBy(() => skip(schedule, time === null ? null : at(time), why, NOW))

    assert.equal(error.code, "BELFRY_OCCURRENCE_INVALID")
    assert.equal(error.message, `Schedule "report" has ${problem}`)
    assert.deepEqual(error.details, { id: "report" })
  })

  test(`more than ${OVERRIDES_MAX} skipped or moved occurrences are refused`, () => {
    const overrides = Array.from({ length: OVERRIDES_MAX }, (_, index) => ({
      ...skipped("09:00"),
      scheduledFor: at("09:00") + index * HOUR,
    }))
    const schedule = aSchedule({}, { overrides })

    const error = thrownBy(() => skip(schedule, at("09:00") + OVERRIDES_MAX * HOUR, why, NOW))

    assert.match(error.message, /has 100 skipped or moved occurrences already; change its timetable instead/)
    assert.doesNotThrow(() => skip(schedule, at("09:00"), why, NOW))
  })
})

describe("move", () => {
  test.each(["08:11", "09:00", "09:59"])("move makes the next occurrence due at another time: %s", (to) => {
    const schedule = aSchedule()

    const after = applied(schedule, move(schedule, null, at(to), why, NOW))

    assert.equal(clock(after.nextRunAt), to)
    const { schedule: later, runs } = firedAt(after, at(to))
    assert.deepInclude(runs[0], { id: "report@2026-03-10T09:00:00Z", notBefore: at(to), state: "pending" })
    assert.equal(clock(later.nextRunAt), "10:00")
  })

  test("moving a later occurrence doesn't change the next run of the schedule", () => {
    const plan = move(aSchedule(), at("11:00"), at("11:30"), why, NOW)

    assert.equal(clock(progressAfter(plan).nextRunAt), "09:00")
  })

  test("a moved occurrence is due exactly at its new time, without jitter", () => {
    const plan = move(aSchedule({ jitter: "10m" }), null, at("09:30"), why, NOW)

    assert.equal(clock(progressAfter(plan).nextRunAt), "09:30")
  })

  test.each<[string, Schedule, string, string]>([
    ["the past", aSchedule(), "09:00", "08:10"],
    ["the next occurrence", aSchedule(), "09:00", "10:00"],
    ["the previous occurrence", aSchedule(), "10:00", "09:00"],
    [
      "the next occurrence, moved to an earlier time",
      aSchedule({}, { overrides: [moved("10:00", "09:20")] }),
      "09:00",
      "09:30",
    ],
    [
      "the previous occurrence, moved to a later time",
      aSchedule({}, { overrides: [moved("09:00", "09:50")] }),
      "10:00",
      "09:40",
    ],
  ])("an occurrence can't be moved past %s", (_, schedule, time, to) => {
    const error = thrownBy(() => move(schedule, at(time), at(to), why, NOW))

    assert.equal(error.code, "BELFRY_OCCURRENCE_INVALID")
    assert.match(error.message, /can't be moved to .*: choose a time after now and between its neighbours/)
  })

  test("move of a time that is no future occurrence is refused", () => {
    assert.match(
      thrownBy(() => move(aSchedule(), at("09:30"), at("09:40"), why, NOW)).message,
      /no occurrence/,
    )
  })
})

test("the error for a pause that doesn't end in the future has the option's name in its details", () => {
  const error = thrownBy(() => pause(aSchedule(), { ...why, until: NOW }, NO_FACTS, NOW))

  assert.deepEqual(error.details, { id: "report", option: "until", value: formatInstant(NOW) })
})

describe("skip without a time", () => {
  const skippedTimes = (schedule: Schedule) =>
    progressAfter(skip(schedule, null, why, NOW)).overrides.map(({ scheduledFor }) => clock(scheduledFor))

  test("skip without a time omits the next occurrence that isn't skipped yet", () => {
    const once = applied(aSchedule(), skip(aSchedule(), null, why, NOW))
    const twice = applied(once, skip(once, null, why, NOW))

    assert.deepEqual([skippedTimes(aSchedule()), skippedTimes(once)], [["09:00"], ["09:00", "10:00"]])
    assert.deepEqual(skippedTimes(twice), ["09:00", "10:00", "11:00"])
  })

  test("skip without a time is refused if every remaining occurrence is skipped", () => {
    const schedule = aSchedule({ at: at("09:00") }, { overrides: [skipped("09:00")] })

    assert.equal(
      thrownBy(() => skip(schedule, null, why, NOW)).message,
      'Schedule "report" has no occurrence to come.',
    )
  })
})

describe("restore", () => {
  test.each([
    ["skip", skipped("09:00")],
    ["move", moved("09:00", "09:30")],
  ])("restore removes a %s", (_, override) => {
    const plan = restore(
      aSchedule({}, { overrides: [override], nextRunAt: at("09:30") }),
      at("09:00"),
      NO_FACTS,
      NOW,
    )

    assert.deepInclude(plan!.progress, { overrides: [], nextRunAt: at("09:00") })
  })

  test("restore of an occurrence without an override changes nothing", () => {
    assert.isNull(restore(aSchedule(), at("09:00"), NO_FACTS, NOW))
  })

  test("restore is refused while a later occurrence is due before the restored one", () => {
    const overrides = [moved("09:00", "08:20"), moved("10:00", "08:40")]

    const error = thrownBy(() => restore(aSchedule({}, { overrides }), at("09:00"), NO_FACTS, NOW))

    assert.match(
      error.message,
      /would no longer be due between its neighbours: restore the ones that were moved first/,
    )
  })
})

describe("a paused schedule", () => {
  test("a move of a paused schedule is stored and keeps the next run", () => {
    const schedule = aSchedule({}, { paused, nextRunAt: null })

    const plan = move(schedule, at("11:00"), at("11:30"), why, NOW)

    assert.deepInclude(plan.progress, { nextRunAt: null, paused })
    assert.equal(progressAfter(plan).overrides.length, 1)
  })
})

describe("replan", () => {
  test("replan plans from now and drops the overrides of past occurrences", () => {
    const schedule = aSchedule({}, { overrides: [skipped("09:00"), skipped("12:00")], lastError: "bad" })

    const anew = replan(schedule, at("10:30"))

    assert.deepInclude(anew, { nextRunAt: at("11:00"), coveredUntil: at("10:30"), lastError: null })
    assert.deepEqual(anew.overrides, [skipped("12:00")])
  })

  test.each([
    ["paused without an end", aSchedule({}, { paused }), null],
    ["paused until 14:00", aSchedule({}, { paused: { ...paused, until: at("14:00") } }), at("14:00")],
    ["disabled", aSchedule({ enabled: false }), null],
    ["at its maxRuns", aSchedule({ maxRuns: 1 }, { firedCount: 1 }), null],
  ])("a schedule that is %s stays so after replan", (_, schedule, nextRunAt) => {
    assert.equal(replan(schedule, MADE_AT).nextRunAt, nextRunAt)
  })
})
