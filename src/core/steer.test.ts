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
} from "../../test/support/records.ts"
import { formatInstant, HOUR } from "./instant.ts"
import { NO_FACTS } from "./plan.ts"
import { OVERRIDES_MAX, type Schedule } from "./schedule.ts"
import { move, pause, planAnew, restore, resume, skip } from "./steer.ts"

const why = { reason: "holiday", by: "ada" }
const NOW = at("08:10")

const paused = { at: NOW, until: null, reason: null, by: null }

describe("pause", () => {
  test("says who, why and until when, and is due at its end", () => {
    const plan = pause(aSchedule(), { ...why, until: at("12:00") }, NO_FACTS, NOW)

    assert.deepEqual(progressAfter(plan).paused, { at: NOW, until: at("12:00"), ...why })
    assert.equal(clock(progressAfter(plan).nextRunAt), "12:00")
    assert.deepInclude(plan, { runs: [], ifVersion: 7 })
  })

  test("without an end it is due never", () => {
    assert.isNull(progressAfter(pause(aSchedule(), { ...why, until: null }, NO_FACTS, NOW)).nextRunAt)
  })

  test("pausing again changes why and until, but not since when", () => {
    const schedule = aSchedule({}, { paused })

    const plan = pause(schedule, { reason: "longer", by: null, until: at("20:00") }, NO_FACTS, at("11:00"))

    assert.deepEqual(progressAfter(plan).paused, { at: NOW, until: at("20:00"), reason: "longer", by: null })
  })

  test.each([NOW, NOW - 1])("an end that is not in the future is refused", (until) => {
    const error = thrownBy(() => pause(aSchedule(), { ...why, until }, NO_FACTS, NOW))

    assert.equal(error.code, "BELFRY_SCHEDULE_INVALID")
    assert.match(error.message, /^Schedule "report" can't be paused until .*: that is not in the future\.$/)
  })
})

test("a pause fires first what is owed", () => {
  const plan = pause(aSchedule(), { ...why, until: null }, NO_FACTS, at("10:30"))

  assert.deepEqual(ledger(plan.runs), ["09:00 skipped coalesced", "10:00 catchup"])
  assert.deepInclude(plan.progress, { nextRunAt: null, coveredUntil: at("10:00") })
})

describe("resume", () => {
  test("records the pause as one range and goes on from now", () => {
    const plan = resume(aSchedule({}, { paused }), NO_FACTS, at("11:30"))

    assert.deepEqual(ledger(plan!.runs), ["09:00-11:00 (3) skipped paused"])
    assert.deepInclude(plan!.progress, { paused: null, nextRunAt: at("12:00"), coveredUntil: at("11:30") })
  })

  test("of what isn't paused is nothing", () => {
    assert.isNull(resume(aSchedule(), NO_FACTS, NOW))
  })
})

describe("skip", () => {
  test("leaves out the next occurrence, which is recorded when its time comes", () => {
    const schedule = aSchedule()

    const after = applied(schedule, skip(schedule, null, why, NOW))

    assert.deepEqual(after.overrides, [{ scheduledFor: at("09:00"), dueAt: null, ...why }])
    const { runs } = firedAt(after, at("09:00"), at("10:00"))
    assert.deepEqual(ledger(runs), ["09:00 skipped operator", "10:00 schedule"])
    assert.equal(runs[0]?.message, "holiday")
  })

  test("leaves out a given occurrence", () => {
    const plan = skip(aSchedule(), at("11:00"), why, NOW)

    assert.deepEqual(progressAfter(plan).overrides, [{ scheduledFor: at("11:00"), dueAt: null, ...why }])
    assert.equal(clock(progressAfter(plan).nextRunAt), "09:00")
  })

  test("of one that was moved replaces the move", () => {
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
    ["of a finished one", aSchedule({ at: at("07:00") }), null, "no occurrence to come."],
    [
      "of one whose runs are used up",
      aSchedule({ maxRuns: 2 }, { firedCount: 2 }),
      null,
      "no occurrence to come.",
    ],
  ])("what is no occurrence to come is refused: %s", (_, schedule, time, problem) => {
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
  test.each(["08:11", "09:00", "09:59"])("gives the next occurrence another time: %s", (to) => {
    const schedule = aSchedule()

    const after = applied(schedule, move(schedule, null, at(to), why, NOW))

    assert.equal(clock(after.nextRunAt), to)
    const { schedule: later, runs } = firedAt(after, at(to))
    assert.deepInclude(runs[0], { id: "report@2026-03-10T09:00:00Z", notBefore: at(to), state: "pending" })
    assert.equal(clock(later.nextRunAt), "10:00")
  })

  test("a later occurrence doesn't change when the schedule is next due", () => {
    const plan = move(aSchedule(), at("11:00"), at("11:30"), why, NOW)

    assert.equal(clock(progressAfter(plan).nextRunAt), "09:00")
  })

  test("takes the jitter away: it is due exactly when it was moved to", () => {
    const plan = move(aSchedule({ jitter: "10m" }), null, at("09:30"), why, NOW)

    assert.equal(clock(progressAfter(plan).nextRunAt), "09:30")
  })

  test.each<[string, Schedule, string, string]>([
    ["the past", aSchedule(), "09:00", "08:10"],
    ["the one after it", aSchedule(), "09:00", "10:00"],
    ["the one before it", aSchedule(), "10:00", "09:00"],
    [
      "one after it that was moved forward",
      aSchedule({}, { overrides: [moved("10:00", "09:20")] }),
      "09:00",
      "09:30",
    ],
    [
      "one before it that was moved back",
      aSchedule({}, { overrides: [moved("09:00", "09:50")] }),
      "10:00",
      "09:40",
    ],
  ])("can't pass %s", (_, schedule, time, to) => {
    const error = thrownBy(() => move(schedule, at(time), at(to), why, NOW))

    assert.equal(error.code, "BELFRY_OCCURRENCE_INVALID")
    assert.match(error.message, /can't be moved to .*: choose a time after now and between its neighbours/)
  })

  test("what is no occurrence to come can't be moved", () => {
    assert.match(
      thrownBy(() => move(aSchedule(), at("09:30"), at("09:40"), why, NOW)).message,
      /no occurrence/,
    )
  })
})

test("a pause that isn't to end in the future is refused by the option's name", () => {
  const error = thrownBy(() => pause(aSchedule(), { ...why, until: NOW }, NO_FACTS, NOW))

  assert.deepEqual(error.details, { id: "report", option: "until", value: formatInstant(NOW) })
})

describe("skip without a time", () => {
  const leftOut = (schedule: Schedule) =>
    progressAfter(skip(schedule, null, why, NOW)).overrides.map(({ scheduledFor }) => clock(scheduledFor))

  test("leaves out the next occurrence that isn't left out already", () => {
    const once = applied(aSchedule(), skip(aSchedule(), null, why, NOW))
    const twice = applied(once, skip(once, null, why, NOW))

    assert.deepEqual([leftOut(aSchedule()), leftOut(once)], [["09:00"], ["09:00", "10:00"]])
    assert.deepEqual(leftOut(twice), ["09:00", "10:00", "11:00"])
  })

  test("is refused where nothing else is to come", () => {
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
  ])("takes back a %s", (_, override) => {
    const plan = restore(
      aSchedule({}, { overrides: [override], nextRunAt: at("09:30") }),
      at("09:00"),
      NO_FACTS,
      NOW,
    )

    assert.deepInclude(plan!.progress, { overrides: [], nextRunAt: at("09:00") })
  })

  test("where nothing was changed is nothing", () => {
    assert.isNull(restore(aSchedule(), at("09:00"), NO_FACTS, NOW))
  })

  test("is refused while a later occurrence is due before it", () => {
    const overrides = [moved("09:00", "08:20"), moved("10:00", "08:40")]

    const error = thrownBy(() => restore(aSchedule({}, { overrides }), at("09:00"), NO_FACTS, NOW))

    assert.match(
      error.message,
      /would no longer be due between its neighbours: restore the ones that were moved first/,
    )
  })
})

describe("while paused or disabled", () => {
  test("a skip or a move is noted, and the schedule is due when it was", () => {
    const schedule = aSchedule({}, { paused, nextRunAt: null })

    const plan = move(schedule, at("11:00"), at("11:30"), why, NOW)

    assert.deepInclude(plan.progress, { nextRunAt: null, paused })
    assert.equal(progressAfter(plan).overrides.length, 1)
  })
})

describe("planAnew", () => {
  test("goes on from now and forgets changes to what is past", () => {
    const schedule = aSchedule({}, { overrides: [skipped("09:00"), skipped("12:00")], lastError: "bad" })

    const anew = planAnew(schedule, at("10:30"))

    assert.deepInclude(anew, { nextRunAt: at("11:00"), coveredUntil: at("10:30"), lastError: null })
    assert.deepEqual(anew.overrides, [skipped("12:00")])
  })

  test.each([
    ["paused without an end", aSchedule({}, { paused }), null],
    ["paused until two", aSchedule({}, { paused: { ...paused, until: at("14:00") } }), at("14:00")],
    ["disabled", aSchedule({ enabled: false }), null],
    ["used up", aSchedule({ maxRuns: 1 }, { firedCount: 1 }), null],
  ])("a schedule that is %s stays so", (_, schedule, nextRunAt) => {
    assert.equal(planAnew(schedule, MADE_AT).nextRunAt, nextRunAt)
  })
})
