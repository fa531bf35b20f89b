import { assert, describe, test } from "vitest"
import { aSchedule, at, clock, MADE_AT } from "../../test/support/records.ts"
import { DAY, HOUR } from "./instant.ts"
import {
  isOccurrenceId,
  newestDue,
  newestPassed,
  nextToRunAt,
  occurrenceAfter,
  occurrenceBefore,
  rangeIdOf,
  runIdOf,
  upcomingAfter,
} from "./occurrence.ts"

function override(time: string, dueAt: string | null) {
  return { scheduledFor: at(time), dueAt: dueAt === null ? null : at(dueAt), reason: null, by: null }
}

test.each([
  ["2026-03-10T09:00:00Z", "report@2026-03-10T09:00:00Z"],
  ["2026-03-10T09:00:00.250Z", "report@2026-03-10T09:00:00.250Z"],
])("the run of the occurrence at %s is %s", (instant, id) => {
  assert.equal(runIdOf("report", at(instant)), id)
})

test.each([
  [runIdOf("a_b-1", at("2026-03-10T09:00:00Z")), true],
  [runIdOf("a", at("2026-03-10T09:00:00.250Z")), true],
  [rangeIdOf("a", { from: at("09:00"), until: at("11:00") }), true],
  ["a@2026-03-10T09:00:00Z~again", true],
  ["a+5b1c", false],
  ["mail-7", false],
  ["ann@example.com", false],
  ["report@2026-03-10", false],
  ["report:ann@2026-03-10T09:00:00Z", false],
])("that %s is an occurrence's id: %s", (id, expected) => {
  assert.equal(isOccurrenceId(id), expected)
})

test("the record of several occurrences has the first and the last in its id", () => {
  assert.equal(
    rangeIdOf("report", { from: at("09:00"), until: at("11:00") }),
    "report@2026-03-10T09:00:00Z..2026-03-10T11:00:00Z",
  )
})

describe("what an operator said about an occurrence", () => {
  test("one that was moved is due then, and keeps its nominal instant", () => {
    const schedule = aSchedule({}, { overrides: [override("09:00", "09:40")] })

    const occurrence = occurrenceAfter(schedule, MADE_AT)

    assert.deepInclude(occurrence, { scheduledFor: at("09:00"), dueAt: at("09:40"), isSkipped: false })
  })

  test("one that was left out is still an occurrence, at its own time", () => {
    const schedule = aSchedule({ jitter: "30m" }, { overrides: [override("09:00", null)] })

    assert.deepInclude(occurrenceAfter(schedule, MADE_AT), { dueAt: at("09:00"), isSkipped: true })
  })

  test("one that was added is found from both sides", () => {
    const schedule = aSchedule({}, { overrides: [override("09:20", "09:20")] })

    assert.equal(clock(occurrenceAfter(schedule, at("09:00"))!.scheduledFor), "09:20")
    assert.equal(clock(occurrenceBefore(schedule, at("10:00"))!.scheduledFor), "09:20")
  })

  test("one that was added is there though the timetable has ended", () => {
    const schedule = aSchedule({ at: at("08:30") }, { overrides: [override("09:20", "09:20")] })

    assert.equal(clock(occurrenceAfter(schedule, at("08:30"))!.scheduledFor), "09:20")
  })

  test("the nearest one counts, whether it was added or is in the timetable, and in any order", () => {
    const overrides = ["09:40", "09:20", "11:20"].map((time) => override(time, time))
    const schedule = aSchedule({}, { overrides })

    assert.equal(clock(occurrenceAfter(schedule, at("09:00"))!.scheduledFor), "09:20")
    assert.equal(clock(occurrenceBefore(schedule, at("10:00"))!.scheduledFor), "09:40")
    assert.equal(clock(occurrenceAfter(schedule, at("09:40"))!.scheduledFor), "10:00")
    assert.equal(clock(occurrenceBefore(schedule, at("11:10"))!.scheduledFor), "11:00")
  })

  test("one that was added is found though the timetable has nothing before it", () => {
    const schedule = aSchedule({ at: at("12:00") }, { overrides: [override("09:20", "09:20")] })

    assert.equal(clock(occurrenceBefore(schedule, at("12:00"))!.scheduledFor), "09:20")
    assert.isNull(occurrenceBefore(schedule, at("09:20")))
  })

  test("neither side includes the instant it is asked about", () => {
    const schedule = aSchedule()

    assert.equal(clock(occurrenceAfter(schedule, at("09:00"))!.scheduledFor), "10:00")
    assert.equal(clock(occurrenceBefore(schedule, at("10:00"))!.scheduledFor), "09:00")
  })
})

describe("jitter", () => {
  test.each(["1s", "10m", "5h"] as const)(
    "of %s stays below itself and below the next occurrence",
    (jitter) => {
      const schedule = aSchedule({ cron: "* * * * * *", jitter })

      let occurrence = occurrenceAfter(schedule, MADE_AT)!
      for (let count = 0; count < 5_000; count++) {
        const next = occurrenceAfter(schedule, occurrence.scheduledFor)!
        assert.isAtLeast(occurrence.dueAt, occurrence.scheduledFor)
        assert.isBelow(occurrence.dueAt, next.scheduledFor)
        assert.isAtMost(occurrence.dueAt - occurrence.scheduledFor, schedule.jitterMs)
        occurrence = next
      }
    },
  )

  test("spreads a thousand schedules evenly over the time it has", () => {
    const quarters = [0, 0, 0, 0]
    for (let index = 0; index < 1_000; index++) {
      const schedule = { ...aSchedule({ jitter: "1h" }), id: `tenant-${index}` }
      quarters[Math.floor((occurrenceAfter(schedule, MADE_AT)!.dueAt - at("09:00")) / (HOUR / 4))]!++
    }

    for (const count of quarters) assert.closeTo(count, 250, 60)
  })

  test("of a millisecond is nothing or a millisecond", () => {
    const dues = Array.from({ length: 50 }, (_, index) => {
      const schedule = { ...aSchedule({ jitter: 1 }), id: `tenant-${index}` }
      return occurrenceAfter(schedule, MADE_AT)!.dueAt - at("09:00")
    })

    assert.deepEqual([...new Set(dues)].sort(), [0, 1])
  })

  test("of the only occurrence there is has its full length", () => {
    const dues = Array.from({ length: 200 }, (_, index) => {
      const schedule = { ...aSchedule({ at: at("09:00"), jitter: "1d" }), id: `once-${index}` }
      return occurrenceAfter(schedule, MADE_AT)!.dueAt - at("09:00")
    })

    assert.isAbove(Math.max(...dues), 0.9 * DAY)
    assert.isAtMost(Math.max(...dues), DAY)
  })
})

describe("the newest due", () => {
  test.each([
    ["08:59:59.999", null],
    ["09:00", "09:00"],
    ["13:59", "13:00"],
  ])("at %s is %s", (now, expected) => {
    const newest = newestDue(aSchedule(), at(now))
    const passed = newestPassed(aSchedule(), at(now))

    assert.equal(newest && clock(newest.scheduledFor), expected)
    assert.equal(passed && clock(passed.scheduledFor), expected)
  })

  test("is not one that was moved to later, but the one before it", () => {
    const schedule = aSchedule({}, { overrides: [override("10:00", "10:30")] })

    assert.equal(clock(newestDue(schedule, at("10:10"))!.scheduledFor), "09:00")
    assert.equal(clock(newestPassed(schedule, at("10:10"))!.scheduledFor), "10:00")
  })

  test("is one that was moved forward, before its nominal instant", () => {
    const schedule = aSchedule({}, { overrides: [override("10:00", "09:30")] })

    assert.equal(clock(newestDue(schedule, at("09:30"))!.scheduledFor), "10:00")
    assert.equal(clock(newestPassed(schedule, at("09:30"))!.scheduledFor), "09:00")
  })

  test("is none if there has been no occurrence at all", () => {
    const schedule = aSchedule({ at: at("12:00") })

    assert.isNull(newestDue(schedule, at("11:00")))
    assert.isNull(newestPassed(schedule, at("11:00")))
  })

  test("is found without a walk back from what was said of the far future", () => {
    const far = "9000-01-01T00:00:00Z"
    const overrides = [override(far, null), override("9001-01-01T00:00:00Z", far)]
    const schedule = aSchedule({ cron: "* * * * * *" }, { overrides })

    assert.equal(clock(newestDue(schedule, at("09:30"))!.scheduledFor), "09:30")
  })

  test("is none if it is settled, never planned, or the runs are used up", () => {
    const settled = aSchedule({}, { coveredUntil: at("10:00") })
    const unplanned = aSchedule({}, { coveredUntil: null })
    const spent = aSchedule({ maxRuns: 2 }, { firedCount: 2 })

    for (const schedule of [settled, unplanned, spent]) {
      assert.isNull(newestDue(schedule, at("10:30")))
      assert.isNull(newestPassed(schedule, at("10:30")))
    }
  })
})

test("nothing is to come once the runs are used up, though the timetable goes on", () => {
  const schedule = aSchedule({ maxRuns: 2 }, { firedCount: 2 })

  assert.isNull(upcomingAfter(schedule, MADE_AT))
  assert.isNotNull(occurrenceAfter(schedule, MADE_AT))
  assert.isNotNull(upcomingAfter({ ...schedule, firedCount: 1 }, MADE_AT))
})

test.each([
  ["nothing was left out", [], {}, "09:00"],
  ["the next was left out", [override("09:00", null)], {}, "10:00"],
  ["the next two were left out", [override("10:00", null), override("09:00", null)], {}, "11:00"],
  ["a later one was left out", [override("10:00", null)], {}, "09:00"],
  ["the one after it was moved", [override("09:00", null), override("10:00", "10:20")], {}, "10:20"],
  ["all that are left were left out", [override("09:00", null)], { endsAt: at("09:00") }, null],
] as const)("when %s, a schedule runs next at its own time", (_, overrides, options, next) => {
  const schedule = aSchedule(options, { overrides, coveredUntil: MADE_AT, nextRunAt: at("09:00") })

  const found = nextToRunAt(schedule)

  assert.equal(found === null ? null : clock(found), next)
})

test.each([
  ["has nothing more to come", { nextRunAt: null, coveredUntil: MADE_AT }, null],
  ["was never planned", { nextRunAt: at("08:30"), coveredUntil: null }, "08:30"],
  ["waits for the end of its pause", { nextRunAt: at("10:30"), coveredUntil: at("09:00") }, "10:30"],
  ["has used up its runs", { nextRunAt: at("10:30"), firedCount: 9 }, "10:30"],
])("one that %s says so, whatever was left out", (_, progress, next) => {
  const options = { startsAt: at("09:00"), maxRuns: 9 }
  const found = nextToRunAt(aSchedule(options, { overrides: [override("09:00", null)], ...progress }))

  assert.equal(found === null ? null : clock(found), next)
})
