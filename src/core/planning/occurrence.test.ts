import { assert, describe, test } from "vitest"
import { aSchedule, at, clock, MADE_AT } from "../../../test/support/records.ts"
import { DAY, HOUR } from "../time/instant.ts"
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
])("the run of the occurrence at %s has the id %s", (instant, id) => {
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
])("for the run id %s, isOccurrenceId is %s", (id, expected) => {
  assert.equal(isOccurrenceId(id), expected)
})

test("the id of a range contains its first and its last occurrence", () => {
  assert.equal(
    rangeIdOf("report", { from: at("09:00"), until: at("11:00") }),
    "report@2026-03-10T09:00:00Z..2026-03-10T11:00:00Z",
  )
})

describe("overrides by an operator", () => {
  test("a moved occurrence is due at its new time and keeps its nominal instant", () => {
    const schedule = aSchedule({}, { overrides: [override("09:00", "09:40")] })

    const occurrence = occurrenceAfter(schedule, MADE_AT)

    assert.deepInclude(occurrence, { scheduledFor: at("09:00"), dueAt: at("09:40"), isSkipped: false })
  })

  test("a skipped occurrence is still an occurrence, at its nominal instant", () => {
    const schedule = aSchedule({ jitter: "30m" }, { overrides: [override("09:00", null)] })

    assert.deepInclude(occurrenceAfter(schedule, MADE_AT), { dueAt: at("09:00"), isSkipped: true })
  })

  test("an added occurrence is found from before and from after it", () => {
    const schedule = aSchedule({}, { overrides: [override("09:20", "09:20")] })

    assert.equal(clock(occurrenceAfter(schedule, at("09:00"))!.scheduledFor), "09:20")
    assert.equal(clock(occurrenceBefore(schedule, at("10:00"))!.scheduledFor), "09:20")
  })

  test("an added occurrence is found after the end of the timetable", () => {
    const schedule = aSchedule({ at: at("08:30") }, { overrides: [override("09:20", "09:20")] })

    assert.equal(clock(occurrenceAfter(schedule, at("08:30"))!.scheduledFor), "09:20")
  })

  test("the nearest occurrence is found among added ones and those of the timetable, in any order of overrides", () => {
    const overrides = ["09:40", "09:20", "11:20"].map((time) => override(time, time))
    const schedule = aSchedule({}, { overrides })

    assert.equal(clock(occurrenceAfter(schedule, at("09:00"))!.scheduledFor), "09:20")
    assert.equal(clock(occurrenceBefore(schedule, at("10:00"))!.scheduledFor), "09:40")
    assert.equal(clock(occurrenceAfter(schedule, at("09:40"))!.scheduledFor), "10:00")
    assert.equal(clock(occurrenceBefore(schedule, at("11:10"))!.scheduledFor), "11:00")
  })

  test("an added occurrence is found before the first occurrence of the timetable", () => {
    const schedule = aSchedule({ at: at("12:00") }, { overrides: [override("09:20", "09:20")] })

    assert.equal(clock(occurrenceBefore(schedule, at("12:00"))!.scheduledFor), "09:20")
    assert.isNull(occurrenceBefore(schedule, at("09:20")))
  })

  test("occurrenceAfter and occurrenceBefore exclude the given instant", () => {
    const schedule = aSchedule()

    assert.equal(clock(occurrenceAfter(schedule, at("09:00"))!.scheduledFor), "10:00")
    assert.equal(clock(occurrenceBefore(schedule, at("10:00"))!.scheduledFor), "09:00")
  })
})

describe("jitter", () => {
  test.each(["1s", "10m", "5h"] as const)(
    "a jitter of %s delays an occurrence at most by itself, and never to the next occurrence",
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

  test("jitter spreads 1,000 schedules evenly over its length", () => {
    const quarters = [0, 0, 0, 0]
    for (let index = 0; index < 1_000; index++) {
      const schedule = { ...aSchedule({ jitter: "1h" }), id: `tenant-${index}` }
      quarters[Math.floor((occurrenceAfter(schedule, MADE_AT)!.dueAt - at("09:00")) / (HOUR / 4))]!++
    }

    for (const count of quarters) assert.closeTo(count, 250, 60)
  })

  test("a jitter of 1 ms delays an occurrence by 0 or 1 ms", () => {
    const dues = Array.from({ length: 50 }, (_, index) => {
      const schedule = { ...aSchedule({ jitter: 1 }), id: `tenant-${index}` }
      return occurrenceAfter(schedule, MADE_AT)!.dueAt - at("09:00")
    })

    assert.deepEqual([...new Set(dues)].sort(), [0, 1])
  })

  test("the jitter of a one-time schedule has its full length", () => {
    const dues = Array.from({ length: 200 }, (_, index) => {
      const schedule = { ...aSchedule({ at: at("09:00"), jitter: "1d" }), id: `once-${index}` }
      return occurrenceAfter(schedule, MADE_AT)!.dueAt - at("09:00")
    })

    assert.isAbove(Math.max(...dues), 0.9 * DAY)
    assert.isAtMost(Math.max(...dues), DAY)
  })
})

describe("the newest due occurrence", () => {
  test.each([
    ["08:59:59.999", null],
    ["09:00", "09:00"],
    ["13:59", "13:00"],
  ])("the newest due occurrence at %s is %s", (now, expected) => {
    const newest = newestDue(aSchedule(), at(now))
    const passed = newestPassed(aSchedule(), at(now))

    assert.equal(newest && clock(newest.scheduledFor), expected)
    assert.equal(passed && clock(passed.scheduledFor), expected)
  })

  test("an occurrence moved to a later time isn't the newest due one; the one before it is", () => {
    const schedule = aSchedule({}, { overrides: [override("10:00", "10:30")] })

    assert.equal(clock(newestDue(schedule, at("10:10"))!.scheduledFor), "09:00")
    assert.equal(clock(newestPassed(schedule, at("10:10"))!.scheduledFor), "10:00")
  })

  test("an occurrence moved to an earlier time is the newest due one before its nominal instant", () => {
    const schedule = aSchedule({}, { overrides: [override("10:00", "09:30")] })

    assert.equal(clock(newestDue(schedule, at("09:30"))!.scheduledFor), "10:00")
    assert.equal(clock(newestPassed(schedule, at("09:30"))!.scheduledFor), "09:00")
  })

  test("there is no newest due occurrence before the first", () => {
    const schedule = aSchedule({ at: at("12:00") })

    assert.isNull(newestDue(schedule, at("11:00")))
    assert.isNull(newestPassed(schedule, at("11:00")))
  })

  test("overrides in the far future don't slow down the search", () => {
    const far = "9000-01-01T00:00:00Z"
    const overrides = [override(far, null), override("9001-01-01T00:00:00Z", far)]
    const schedule = aSchedule({ cron: "* * * * * *" }, { overrides })

    assert.equal(clock(newestDue(schedule, at("09:30"))!.scheduledFor), "09:30")
  })

  test("there is no newest due occurrence if all are settled, nothing was planned, or maxRuns is reached", () => {
    const settled = aSchedule({}, { coveredUntil: at("10:00") })
    const unplanned = aSchedule({}, { coveredUntil: null })
    const spent = aSchedule({ maxRuns: 2 }, { firedCount: 2 })

    for (const schedule of [settled, unplanned, spent]) {
      assert.isNull(newestDue(schedule, at("10:30")))
      assert.isNull(newestPassed(schedule, at("10:30")))
    }
  })
})

test("there is no upcoming occurrence once maxRuns is reached, even if the timetable goes on", () => {
  const schedule = aSchedule({ maxRuns: 2 }, { firedCount: 2 })

  assert.isNull(upcomingAfter(schedule, MADE_AT))
  assert.isNotNull(occurrenceAfter(schedule, MADE_AT))
  assert.isNotNull(upcomingAfter({ ...schedule, firedCount: 1 }, MADE_AT))
})

test.each([
  ["nothing was skipped", [], {}, "09:00"],
  ["the next was skipped", [override("09:00", null)], {}, "10:00"],
  ["the next two were skipped", [override("10:00", null), override("09:00", null)], {}, "11:00"],
  ["a later one was skipped", [override("10:00", null)], {}, "09:00"],
  [
    "the next was skipped and the one after it moved",
    [override("09:00", null), override("10:00", "10:20")],
    {},
    "10:20",
  ],
  ["all remaining ones were skipped", [override("09:00", null)], { endsAt: at("09:00") }, null],
] as const)(
  "the next run is the first occurrence that isn't skipped, when %s",
  (_, overrides, options, next) => {
    const schedule = aSchedule(options, { overrides, coveredUntil: MADE_AT, nextRunAt: at("09:00") })

    const found = nextToRunAt(schedule)

    assert.equal(found === null ? null : clock(found), next)
  },
)

test.each([
  ["has no further occurrence", { nextRunAt: null, coveredUntil: MADE_AT }, null],
  ["was never planned", { nextRunAt: at("08:30"), coveredUntil: null }, "08:30"],
  ["waits for the end of its pause", { nextRunAt: at("10:30"), coveredUntil: at("09:00") }, "10:30"],
  ["has reached maxRuns", { nextRunAt: at("10:30"), firedCount: 9 }, "10:30"],
])("the next run of a schedule that %s is its nextRunAt, whatever was skipped", (_, progress, next) => {
  const options = { startsAt: at("09:00"), maxRuns: 9 }
  const found = nextToRunAt(aSchedule(options, { overrides: [override("09:00", null)], ...progress }))

  assert.equal(found === null ? null : clock(found), next)
})
