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
} from "../../test/support/records.ts"
import { HOUR } from "./instant.ts"
import { NO_FACTS } from "./plan.ts"
import { type OccurrenceOverride, OVERRIDES_MAX, type Schedule } from "./schedule.ts"
import { move, pause, planAnew, reschedule, restore, resume, skip } from "./steer.ts"

/** The edges of an operator's steps: what is last, what is not waiting, what was changed before. */

const why = { reason: "holiday", by: "ada" }
const NOW = at("08:10")
const paused = { at: NOW, until: null, reason: null, by: null }

function skipped(time: string): OccurrenceOverride {
  return { scheduledFor: at(time), dueAt: null, reason: null, by: null }
}

function moved(time: string, to: string): OccurrenceOverride {
  return { scheduledFor: at(time), dueAt: at(to), reason: null, by: null }
}

/** `09:00 to 09:30 (reason, by)`, `09:00 left out`. */
function changes(overrides: readonly OccurrenceOverride[]): readonly string[] {
  return overrides.map(({ scheduledFor, dueAt, reason, by }) => {
    const change = dueAt === null ? "left out" : `to ${clock(dueAt)}`
    return `${clock(scheduledFor)} ${change} (${reason}, ${by})`
  })
}

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

describe("reschedule", () => {
  const to = (schedule: Schedule, time: string, now = NOW) =>
    reschedule(schedule, at(time), why, NO_FACTS, now)

  test("of one that is paused fires nothing that is owed: it is passed over", () => {
    const schedule = aSchedule({}, { paused, nextRunAt: null })

    const plan = to(schedule, "12:30", at("10:30"))
    const ended = resume(applied(schedule, plan), NO_FACTS, at("11:30"))!

    assert.deepEqual([plan.runs, progressAfter(plan).nextRunAt], [[], null])
    assert.deepEqual(ledger(ended.runs), ["09:00-11:00 (3) skipped operator"])
    assert.equal(clock(progressAfter(ended).nextRunAt), "12:30")
  })

  test("of the only occurrence to an earlier time replaces it", () => {
    const plan = to(aSchedule({ at: at("12:00") }), "09:00")

    assert.deepEqual(changes(progressAfter(plan).overrides), [
      "09:00 to 09:00 (holiday, ada)",
      "12:00 left out (holiday, ada)",
    ])
    assert.equal(clock(progressAfter(plan).nextRunAt), "09:00")
  })

  test("to its own time changes this one occurrence only", () => {
    const plan = to(aSchedule(), "09:00")

    assert.deepEqual(changes(progressAfter(plan).overrides), ["09:00 to 09:00 (holiday, ada)"])
  })

  test("a second time to the same time replaces the first", () => {
    const schedule = aSchedule()
    const first = applied(
      schedule,
      reschedule(schedule, at("08:30"), { reason: "first", by: null }, NO_FACTS, NOW),
    )

    assert.deepEqual(changes(progressAfter(to(first, "08:30")).overrides), ["08:30 to 08:30 (holiday, ada)"])
  })

  test("to an earlier time replaces what was said of the last one", () => {
    const schedule = aSchedule({ at: at("09:00") }, { overrides: [moved("09:00", "09:20")] })

    assert.deepEqual(changes(progressAfter(to(schedule, "08:30")).overrides), [
      "08:30 to 08:30 (holiday, ada)",
      "09:00 left out (holiday, ada)",
    ])
  })

  test("to an earlier time keeps what was said of those after it", () => {
    const schedule = aSchedule({}, { overrides: [moved("09:00", "09:20"), skipped("12:00")] })

    assert.deepEqual(changes(progressAfter(to(schedule, "08:30")).overrides), [
      "09:00 to 09:20 (null, null)",
      "12:00 left out (null, null)",
      "08:30 to 08:30 (holiday, ada)",
    ])
  })

  test("of a finished one keeps what was said of its past", () => {
    const schedule = aSchedule({ at: at("07:00") }, { overrides: [skipped("06:00")] })

    assert.deepEqual(changes(progressAfter(to(schedule, "09:00")).overrides), [
      "06:00 left out (null, null)",
      "09:00 to 09:00 (holiday, ada)",
    ])
  })

  test("to a later time leaves out those that were moved to before it or to it, and keeps the others", () => {
    const overrides = [moved("12:00", "11:30"), skipped("13:00"), moved("14:00", "14:30")]

    assert.deepEqual(changes(progressAfter(to(aSchedule({}, { overrides }), "11:30")).overrides), [
      "12:00 left out (holiday, ada)",
      "13:00 left out (null, null)",
      "14:00 to 14:30 (null, null)",
      "11:30 to 11:30 (holiday, ada)",
    ])
  })

  test("to the time of an occurrence that was skipped replaces the skip", () => {
    const schedule = aSchedule({}, { overrides: [skipped("11:00")] })

    assert.deepEqual(changes(progressAfter(to(schedule, "11:00")).overrides), [
      "11:00 to 11:00 (holiday, ada)",
    ])
  })

  test("to the time up to which all is settled is refused, and the millisecond after it isn't", () => {
    const schedule = aSchedule({}, { coveredUntil: at("08:30") })

    assert.match(
      thrownBy(() => to(schedule, "08:30")).message,
      /everything up to 2026-03-10T08:30:00Z is settled/,
    )
    assert.doesNotThrow(() => to(schedule, "08:30:00.001"))
  })
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
