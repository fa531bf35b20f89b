import { assert, describe, test } from "vitest"
import {
  applied,
  aSchedule,
  at,
  changes,
  clock,
  firedAt,
  moved,
  progressAfter,
  skipped,
  thrownBy,
} from "../../test/support/records.ts"
import { HOUR } from "./instant.ts"
import { NO_FACTS } from "./plan.ts"
import { type OccurrenceOverride, OVERRIDES_MAX, type Schedule } from "./schedule.ts"
import { move, pause, planAnew, reschedule, restore, skip } from "./steer.ts"

/** The edges of an operator's steps: what is last, what is not waiting, what was changed before. */

const why = { reason: "holiday", by: "ada" }
const NOW = at("08:10")
const paused = { at: NOW, until: null, reason: null, by: null }

describe("the pause of a schedule that is not planned", () => {
  const NOT_PLANNED: readonly [string, Schedule][] = [
    ["never planned", aSchedule({}, { coveredUntil: null, nextRunAt: null })],
    ["unreadable", aSchedule({}, { lastError: "bad cron" })],
  ]

  test.each(NOT_PLANNED)("fires nothing and changes nothing else: %s", (_, schedule) => {
    const plan = pause(schedule, { ...why, until: at("12:00") }, NO_FACTS, at("10:30"))

    assert.deepEqual(plan.runs, [])
    const { coveredUntil, lastError } = schedule
    assert.deepInclude(plan.progress, { nextRunAt: at("12:00"), coveredUntil, lastError })
    assert.deepEqual(progressAfter(plan).paused, { at: at("10:30"), until: at("12:00"), ...why })
  })
})

describe("move of an occurrence without a neighbour", () => {
  test("the last one may be moved to any later time", () => {
    const plan = move(aSchedule({ endsAt: at("09:00") }), null, at("23:00"), why, NOW)

    assert.equal(clock(progressAfter(plan).nextRunAt), "23:00")
  })

  test("the only one may be moved to any time after now", () => {
    const only = aSchedule({ at: at("12:00") })

    assert.equal(clock(progressAfter(move(only, null, at("08:11"), why, NOW)).nextRunAt), "08:11")
    assert.equal(clock(progressAfter(move(only, null, at("23:00"), why, NOW)).nextRunAt), "23:00")
  })

  test.each<[string, Schedule, string]>([
    ["both", aSchedule(), "2026-03-10T08:00:00Z and 2026-03-10T10:00:00Z"],
    ["the one before", aSchedule({ endsAt: at("09:00") }), "2026-03-10T08:00:00Z and …"],
    ["none", aSchedule({ at: at("09:00") }), "… and …"],
  ])("a refusal names the neighbours: %s", (_, schedule, neighbours) => {
    const error = thrownBy(() => move(schedule, null, at("08:10"), why, NOW))

    assert.equal(
      error.message,
      'The occurrence of "report" at 2026-03-10T09:00:00Z can\'t be moved to 2026-03-10T08:10:00Z: ' +
        `choose a time after now and between its neighbours (${neighbours}).`,
    )
  })

  test("a neighbour that was moved to after its nominal time bounds by its nominal time", () => {
    const schedule = aSchedule({}, { overrides: [moved("10:00", "10:30")] })

    assert.equal(
      thrownBy(() => move(schedule, null, at("10:00"), why, NOW)).code,
      "BELFRY_OCCURRENCE_INVALID",
    )
    assert.doesNotThrow(() => move(schedule, null, at("09:59"), why, NOW))
  })
})

test("restore takes back the change of the occurrence that it names, and no other", () => {
  const schedule = aSchedule({}, { overrides: [skipped("11:00"), moved("12:00", "12:20")] })

  assert.isNull(restore(schedule, at("09:00"), NO_FACTS, NOW))
  assert.deepEqual(changes(progressAfter(restore(schedule, at("11:00"), NO_FACTS, NOW)).overrides), [
    "12:00 to 12:20 (null, null)",
  ])
})

describe("which occurrence is to come", () => {
  test("the first one after what is settled, though now is before that", () => {
    const plan = skip(aSchedule({}, { coveredUntil: at("09:00") }), null, why, NOW)

    assert.deepEqual(changes(progressAfter(plan).overrides), ["10:00 left out (holiday, ada)"])
  })

  test("the first one after now, where nothing was settled yet", () => {
    const plan = skip(aSchedule({}, { coveredUntil: null, nextRunAt: null }), null, why, at("10:30"))

    assert.deepEqual(changes(progressAfter(plan).overrides), ["11:00 left out (holiday, ada)"])
    assert.equal(progressAfter(plan).coveredUntil, at("10:30"))
  })

  test("none that is settled already, though it is asked for by its time", () => {
    const schedule = aSchedule({}, { coveredUntil: at("09:00") })

    assert.match(
      thrownBy(() => skip(schedule, at("09:00"), why, NOW)).message,
      /no occurrence to come at 2026-03-10T09:00:00Z\. The next is at 2026-03-10T10:00:00Z\./,
    )
  })
})

describe("when the schedule is due after a change", () => {
  test.each<[string, Schedule]>([
    ["disabled", aSchedule({ enabled: false }, { nextRunAt: null })],
    ["paused", aSchedule({}, { paused, nextRunAt: at("20:00") })],
    ["disabled and paused", aSchedule({ enabled: false }, { paused, nextRunAt: null })],
  ])("one that is %s is due when it was", (_, schedule) => {
    assert.equal(progressAfter(skip(schedule, null, why, NOW)).nextRunAt, schedule.nextRunAt)
  })

  test("a skipped occurrence is still due, so that it is recorded, and the schedule isn't finished", () => {
    const plan = skip(aSchedule({ at: at("12:00") }), null, why, NOW)

    assert.deepInclude(plan.progress, { nextRunAt: at("12:00"), finishedAt: null })
  })

  test("taking back a time that was added to a finished schedule finishes it again, at the same instant", () => {
    const finished = firedAt(aSchedule({ at: at("08:05") }), at("08:05")).schedule
    const back = applied(finished, reschedule(finished, at("09:30"), why, NO_FACTS, NOW))

    const plan = restore(back, at("09:30"), NO_FACTS, at("08:20"))

    assert.deepInclude(plan!.progress, { nextRunAt: null, finishedAt: at("08:20"), overrides: [] })
  })

  test("one that was finished stays finished since then", () => {
    const schedule = aSchedule(
      { at: at("07:00") },
      { overrides: [skipped("07:00")], finishedAt: at("07:30"), nextRunAt: null },
    )

    assert.equal(progressAfter(restore(schedule, at("07:00"), NO_FACTS, NOW)).finishedAt, at("07:30"))
  })
})

describe("the order of occurrences", () => {
  test.each<[string, readonly OccurrenceOverride[], string, boolean]>([
    ["a later one due at its time", [moved("09:00", "08:20"), moved("10:00", "09:00")], "09:00", false],
    [
      "a later one due just after its time",
      [moved("09:00", "08:20"), moved("10:00", "09:00:00.001")],
      "09:00",
      true,
    ],
    ["an earlier one due at its time", [moved("10:00", "10:30"), moved("09:00", "10:00")], "10:00", false],
    [
      "an earlier one due just before its time",
      [moved("10:00", "10:30"), moved("09:00", "09:59:59.999")],
      "10:00",
      true,
    ],
  ])("can be restored, or not: %s", (_, overrides, time, isPossible) => {
    const act = () => restore(aSchedule({}, { overrides }), at(time), NO_FACTS, NOW)

    if (isPossible) assert.doesNotThrow(act)
    else assert.equal(thrownBy(act).code, "BELFRY_OCCURRENCE_INVALID")
  })

  test("the refusal names the occurrence that would be out of order", () => {
    const overrides = [moved("09:00", "08:20"), moved("10:00", "08:40")]

    assert.equal(
      thrownBy(() => restore(aSchedule({}, { overrides }), at("09:00"), NO_FACTS, NOW)).message,
      'The occurrence of "report" at 2026-03-10T10:00:00Z would no longer be due between its neighbours: ' +
        "restore the ones that were moved first.",
    )
  })

  test("what is settled doesn't matter to it", () => {
    const overrides = [moved("09:00", "10:30"), skipped("12:00")]
    const schedule = aSchedule({}, { coveredUntil: at("09:00"), overrides })

    assert.doesNotThrow(() => move(schedule, at("10:00"), at("10:40"), why, NOW))
    assert.doesNotThrow(() => skip(schedule, at("10:00"), why, NOW))
    assert.doesNotThrow(() => restore(schedule, at("12:00"), NO_FACTS, NOW))
  })

  test("the last occurrence has nothing after it to pass", () => {
    const schedule = aSchedule(
      { endsAt: at("10:00") },
      { overrides: [moved("10:00", "10:30"), skipped("09:00")] },
    )

    assert.doesNotThrow(() => restore(schedule, at("09:00"), NO_FACTS, NOW))
  })
})

test(`${OVERRIDES_MAX} skipped or moved occurrences are possible, and the refusal of more names the schedule`, () => {
  const overrides = Array.from({ length: OVERRIDES_MAX - 1 }, (_, index) => ({
    ...skipped("09:00"),
    scheduledFor: at("09:00") + index * HOUR,
  }))
  const schedule = aSchedule({}, { overrides })
  const time = at("09:00") + OVERRIDES_MAX * HOUR

  const full = applied(schedule, skip(schedule, time, why, NOW))

  const error = thrownBy(() => skip(full, time + HOUR, why, NOW))
  assert.equal(error.code, "BELFRY_OCCURRENCE_INVALID")
  assert.match(error.message, /^Schedule "report" has 100 skipped or moved occurrences already/)
})

describe("a new beginning", () => {
  test("goes on from what is settled, if that is after now", () => {
    const anew = planAnew(aSchedule({}, { coveredUntil: at("10:00") }), NOW)

    assert.deepInclude(anew, { coveredUntil: at("10:00"), nextRunAt: at("11:00") })
  })

  test("goes on from now, if nothing was settled or it is past", () => {
    assert.equal(planAnew(aSchedule({}, { coveredUntil: null }), NOW).coveredUntil, NOW)
    assert.equal(planAnew(aSchedule({}, { coveredUntil: at("07:00") }), NOW).coveredUntil, NOW)
  })

  test("a disabled schedule that is also paused is due never, but its progress is planned", () => {
    const schedule = aSchedule(
      { enabled: false },
      { paused: { ...paused, until: at("14:00") }, lastError: "bad" },
    )

    assert.deepInclude(planAnew(schedule, at("10:30")), {
      nextRunAt: null,
      coveredUntil: at("10:30"),
      lastError: null,
    })
  })

  test("a paused schedule keeps its pause and is due at its end", () => {
    const until = { ...paused, until: at("14:00") }

    const anew = planAnew(aSchedule({}, { paused: until, lastError: "bad" }), at("10:30"))

    assert.deepInclude(anew, { nextRunAt: at("14:00"), coveredUntil: at("10:30"), lastError: null })
    assert.deepEqual(anew.paused, until)
  })
})
