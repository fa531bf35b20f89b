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
} from "../../../test/support/records.ts"
import { type OccurrenceOverride, OVERRIDES_MAX, type Schedule } from "../schedule/schedule.ts"
import { HOUR } from "../time/instant.ts"
import { NO_FACTS } from "./plan.ts"
import { move, pause, replan, reschedule, restore, skip } from "./steer.ts"

// Edge cases of operations on schedules: last occurrences, schedules without a next run, earlier overrides.

const why = { reason: "holiday", by: "ada" }
const NOW = at("08:10")
const paused = { at: NOW, until: null, reason: null, by: null }

describe("a pause of a schedule that isn't planned", () => {
  const NOT_PLANNED: readonly [string, Schedule][] = [
    ["never planned", aSchedule({}, { coveredUntil: null, nextRunAt: null })],
    ["unreadable", aSchedule({}, { lastError: "bad cron" })],
  ]

  test.each(NOT_PLANNED)(
    "a pause fires nothing and changes only the pause and the next run: %s",
    (_, schedule) => {
      const plan = pause(schedule, { ...why, until: at("12:00") }, NO_FACTS, at("10:30"))

      assert.deepEqual(plan.runs, [])
      const { coveredUntil, lastError } = schedule
      assert.deepInclude(plan.progress, { nextRunAt: at("12:00"), coveredUntil, lastError })
      assert.deepEqual(progressAfter(plan).paused, { at: at("10:30"), until: at("12:00"), ...why })
    },
  )
})

describe("a move and its neighbours", () => {
  test("the last occurrence may be moved to any later time", () => {
    const plan = move(aSchedule({ endsAt: at("09:00") }), null, at("23:00"), why, NOW)

    assert.equal(clock(progressAfter(plan).nextRunAt), "23:00")
  })

  test("the only occurrence may be moved to any time after now", () => {
    const only = aSchedule({ at: at("12:00") })

    assert.equal(clock(progressAfter(move(only, null, at("08:11"), why, NOW)).nextRunAt), "08:11")
    assert.equal(clock(progressAfter(move(only, null, at("23:00"), why, NOW)).nextRunAt), "23:00")
  })

  test.each<[string, Schedule, string]>([
    ["both", aSchedule(), "2026-03-10T08:00:00Z and 2026-03-10T10:00:00Z"],
    ["the one before", aSchedule({ endsAt: at("09:00") }), "2026-03-10T08:00:00Z and …"],
    ["none", aSchedule({ at: at("09:00") }), "… and …"],
  ])("the error of a refused move names the neighbours: %s", (_, schedule, neighbours) => {
    const error = thrownBy(() => move(schedule, null, at("08:10"), why, NOW))

    assert.equal(
      error.message,
      'The occurrence of "report" at 2026-03-10T09:00:00Z can\'t be moved to 2026-03-10T08:10:00Z: ' +
        `choose a time after now and between its neighbours (${neighbours}).`,
    )
  })

  test("the limit set by a neighbour that was moved to later is its nominal time", () => {
    const schedule = aSchedule({}, { overrides: [moved("10:00", "10:30")] })

    assert.equal(
      thrownBy(() => move(schedule, null, at("10:00"), why, NOW)).code,
      "BELFRY_OCCURRENCE_INVALID",
    )
    assert.doesNotThrow(() => move(schedule, null, at("09:59"), why, NOW))
  })
})

test("restore removes the override of the given occurrence, and no other", () => {
  const schedule = aSchedule({}, { overrides: [skipped("11:00"), moved("12:00", "12:20")] })

  assert.isNull(restore(schedule, at("09:00"), NO_FACTS, NOW))
  assert.deepEqual(changes(progressAfter(restore(schedule, at("11:00"), NO_FACTS, NOW)).overrides), [
    "12:00 to 12:20 (null, null)",
  ])
})

describe("the next occurrence for an operator", () => {
  test("the next occurrence is after coveredUntil, even if now is earlier", () => {
    const plan = skip(aSchedule({}, { coveredUntil: at("09:00") }), null, why, NOW)

    assert.deepEqual(changes(progressAfter(plan).overrides), ["10:00 left out (holiday, ada)"])
  })

  test("the next occurrence is after now if nothing was settled yet", () => {
    const plan = skip(aSchedule({}, { coveredUntil: null, nextRunAt: null }), null, why, at("10:30"))

    assert.deepEqual(changes(progressAfter(plan).overrides), ["11:00 left out (holiday, ada)"])
    assert.equal(progressAfter(plan).coveredUntil, at("10:30"))
  })

  test("a settled occurrence is refused, even if it is given by its time", () => {
    const schedule = aSchedule({}, { coveredUntil: at("09:00") })

    assert.match(
      thrownBy(() => skip(schedule, at("09:00"), why, NOW)).message,
      /no occurrence to come at 2026-03-10T09:00:00Z\. The next is at 2026-03-10T10:00:00Z\./,
    )
  })
})

describe("the next run after an operation", () => {
  test.each<[string, Schedule]>([
    ["disabled", aSchedule({ enabled: false }, { nextRunAt: null })],
    ["paused", aSchedule({}, { paused, nextRunAt: at("20:00") })],
    ["disabled and paused", aSchedule({ enabled: false }, { paused, nextRunAt: null })],
  ])("a schedule that is %s keeps its next run", (_, schedule) => {
    assert.equal(progressAfter(skip(schedule, null, why, NOW)).nextRunAt, schedule.nextRunAt)
  })

  test("a skipped occurrence is still due so that it is recorded, and the schedule isn't finished", () => {
    const plan = skip(aSchedule({ at: at("12:00") }), null, why, NOW)

    assert.deepInclude(plan.progress, { nextRunAt: at("12:00"), finishedAt: null })
  })

  test("a finished schedule whose added time is restored is finished again, at the time of the restore", () => {
    const finished = firedAt(aSchedule({ at: at("08:05") }), at("08:05")).schedule
    const back = applied(finished, reschedule(finished, at("09:30"), why, NO_FACTS, NOW))

    const plan = restore(back, at("09:30"), NO_FACTS, at("08:20"))

    assert.deepInclude(plan!.progress, { nextRunAt: null, finishedAt: at("08:20"), overrides: [] })
  })

  test("a restore of a finished schedule keeps its finishedAt", () => {
    const schedule = aSchedule(
      { at: at("07:00") },
      { overrides: [skipped("07:00")], finishedAt: at("07:30"), nextRunAt: null },
    )

    assert.equal(progressAfter(restore(schedule, at("07:00"), NO_FACTS, NOW)).finishedAt, at("07:30"))
  })
})

describe("the order of occurrences", () => {
  test.each<[string, readonly OccurrenceOverride[], string, boolean]>([
    [
      "no, a later one is due at its time",
      [moved("09:00", "08:20"), moved("10:00", "09:00")],
      "09:00",
      false,
    ],
    [
      "yes, a later one is due 1 ms after its time",
      [moved("09:00", "08:20"), moved("10:00", "09:00:00.001")],
      "09:00",
      true,
    ],
    [
      "no, an earlier one is due at its time",
      [moved("10:00", "10:30"), moved("09:00", "10:00")],
      "10:00",
      false,
    ],
    [
      "yes, an earlier one is due 1 ms before its time",
      [moved("10:00", "10:30"), moved("09:00", "09:59:59.999")],
      "10:00",
      true,
    ],
  ])("a moved occurrence can be restored or not: %s", (_, overrides, time, isPossible) => {
    const act = () => restore(aSchedule({}, { overrides }), at(time), NO_FACTS, NOW)

    if (isPossible) assert.doesNotThrow(act)
    else assert.equal(thrownBy(act).code, "BELFRY_OCCURRENCE_INVALID")
  })

  test("the error of a refused restore names the occurrence that would be out of order", () => {
    const overrides = [moved("09:00", "08:20"), moved("10:00", "08:40")]

    assert.equal(
      thrownBy(() => restore(aSchedule({}, { overrides }), at("09:00"), NO_FACTS, NOW)).message,
      'The occurrence of "report" at 2026-03-10T10:00:00Z would no longer be due between its neighbours: ' +
        "restore the ones that were moved first.",
    )
  })

  test("settled occurrences don't restrict moves, skips and restores", () => {
    const overrides = [moved("09:00", "10:30"), skipped("12:00")]
    const schedule = aSchedule({}, { coveredUntil: at("09:00"), overrides })

    assert.doesNotThrow(() => move(schedule, at("10:00"), at("10:40"), why, NOW))
    assert.doesNotThrow(() => skip(schedule, at("10:00"), why, NOW))
    assert.doesNotThrow(() => restore(schedule, at("12:00"), NO_FACTS, NOW))
  })

  test("a restore is possible if the moved occurrence is the last one", () => {
    const schedule = aSchedule(
      { endsAt: at("10:00") },
      { overrides: [moved("10:00", "10:30"), skipped("09:00")] },
    )

    assert.doesNotThrow(() => restore(schedule, at("09:00"), NO_FACTS, NOW))
  })
})

test(`${OVERRIDES_MAX} skipped or moved occurrences are accepted, and the error for one more names the schedule`, () => {
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

describe("replan", () => {
  test("replan plans from coveredUntil if that is after now", () => {
    const anew = replan(aSchedule({}, { coveredUntil: at("10:00") }), NOW)

    assert.deepInclude(anew, { coveredUntil: at("10:00"), nextRunAt: at("11:00") })
  })

  test("replan plans from now if coveredUntil is null or past", () => {
    assert.equal(replan(aSchedule({}, { coveredUntil: null }), NOW).coveredUntil, NOW)
    assert.equal(replan(aSchedule({}, { coveredUntil: at("07:00") }), NOW).coveredUntil, NOW)
  })

  test("a disabled and paused schedule has no next run, but its coveredUntil is set", () => {
    const schedule = aSchedule(
      { enabled: false },
      { paused: { ...paused, until: at("14:00") }, lastError: "bad" },
    )

    assert.deepInclude(replan(schedule, at("10:30")), {
      nextRunAt: null,
      coveredUntil: at("10:30"),
      lastError: null,
    })
  })

  test("a paused schedule keeps its pause and is due at the end of it", () => {
    const until = { ...paused, until: at("14:00") }

    const anew = replan(aSchedule({}, { paused: until, lastError: "bad" }), at("10:30"))

    assert.deepInclude(anew, { nextRunAt: at("14:00"), coveredUntil: at("10:30"), lastError: null })
    assert.deepEqual(anew.paused, until)
  })
})
