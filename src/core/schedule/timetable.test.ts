import fc from "fast-check"
import { assert, describe, test } from "vitest"
import { assertProperty } from "../../../test/support/properties.ts"
import { at, clock, MADE_AT, thrownBy } from "../../../test/support/records.ts"
import { DEFAULT_DST } from "../cron/parse.ts"
import { DAY, EARLIEST, HOUR, type Instant, LATEST, MINUTE, SECOND } from "../time/instant.ts"
import {
  countInTimetable,
  cronOf,
  nextInTimetable,
  previousInTimetable,
  type Timetable,
  type Trigger,
} from "./timetable.ts"

const cron = (text: string): Trigger => ({ kind: "cron", cron: text, dayMatch: "either" })
const every = (everyMs: number, anchor: Instant | null = null): Trigger => ({
  kind: "every",
  everyMs,
  anchor,
})
const once = (time: string): Trigger => ({ kind: "at", at: at(time) })

function aTimetable(triggers: readonly Trigger[], fields: Partial<Timetable> = {}): Timetable {
  const bounds = { anchor: MADE_AT, startsAt: null, endsAt: null }
  return { id: "report", triggers, timezone: "UTC", dst: DEFAULT_DST, ...bounds, ...fields }
}

function times(timetable: Timetable, after: Instant, count: number): readonly string[] {
  const found: Instant[] = []
  for (let next = nextInTimetable(timetable, after); next !== null && found.length < count; ) {
    found.push(next)
    next = nextInTimetable(timetable, next)
  }
  return found.map(clock)
}

describe("several triggers", () => {
  test("the occurrences of several triggers are merged in order", () => {
    const timetable = aTimetable([cron("0 * * * *"), every(25 * MINUTE), once("09:10")])

    assert.deepEqual(times(timetable, MADE_AT, 6), ["08:25", "08:50", "09:00", "09:10", "09:15", "09:40"])
  })

  test("several triggers at the same instant make one occurrence", () => {
    const timetable = aTimetable([cron("0 * * * *"), every(HOUR), once("09:00")])

    assert.deepEqual(times(timetable, MADE_AT, 3), ["09:00", "10:00", "11:00"])
    assert.equal(countInTimetable(timetable, MADE_AT, at("11:00"), 100), 3)
  })
})

describe("intervals", () => {
  test("an interval counts from the creation of the schedule", () => {
    assert.deepEqual(times(aTimetable([every(25 * MINUTE)]), MADE_AT, 3), ["08:25", "08:50", "09:15"])
  })

  test("an interval counts from its own anchor, else from startsAt, and includes that instant", () => {
    const anchored = aTimetable([every(HOUR, at("08:10"))], { startsAt: at("08:30") })
    const started = aTimetable([every(HOUR)], { startsAt: at("08:30") })

    assert.deepEqual(times(anchored, MADE_AT, 2), ["09:10", "10:10"])
    assert.deepEqual(times(started, MADE_AT, 2), ["08:30", "09:30"])
  })

  test("an interval begins at a future anchor", () => {
    const timetable = aTimetable([every(10 * MINUTE, at("12:00"))])

    assert.deepEqual(times(timetable, MADE_AT, 2), ["12:00", "12:10"])
    assert.isNull(previousInTimetable(timetable, at("12:00")))
    assert.equal(countInTimetable(timetable, MADE_AT, at("12:30"), 100), 4)
  })

  test("every occurrence of an interval is a whole number of steps from its anchor", () => {
    const timetable = aTimetable([every(7_001)])

    for (let after = MADE_AT; after < MADE_AT + DAY; after += 3_333_333) {
      assert.equal((nextInTimetable(timetable, after)! - MADE_AT) % 7_001, 0)
    }
  })

  test("an interval written as @every in a cron has the same occurrences, in any case", () => {
    const asTrigger = times(aTimetable([every(25 * MINUTE)]), MADE_AT, 3)

    assert.deepEqual(times(aTimetable([cron("@every 25m")]), MADE_AT, 3), asTrigger)
    assert.deepEqual(times(aTimetable([cron(" @EVERY 25m")]), MADE_AT, 3), asTrigger)
  })

  test.each(["@every 1h", "@Every 1h"])("%s counts from the anchor of its own schedule", (text) => {
    const first = aTimetable([cron(text)])
    const second = aTimetable([cron(text)], { anchor: at("08:20") })
    const started = aTimetable([cron(text)], { startsAt: at("08:40") })

    assert.deepEqual(
      [first, second, started].map((timetable) => times(timetable, at("09:10"), 1)[0]),
      ["10:00", "09:20", "09:40"],
    )
  })
})

describe("startsAt and endsAt", () => {
  const bounded = aTimetable([cron("*/30 * * * *")], { startsAt: at("09:00"), endsAt: at("10:00") })

  test("occurrences at startsAt and at endsAt are included, forwards and backwards", () => {
    assert.deepEqual(times(bounded, MADE_AT, 9), ["09:00", "09:30", "10:00"])
    assert.equal(clock(previousInTimetable(bounded, at("23:00"))), "10:00")
    assert.isNull(previousInTimetable(bounded, at("09:00")))
  })

  test("startsAt and endsAt apply to one-time triggers", () => {
    const timetable = aTimetable([once("08:30"), once("09:15"), once("10:30")], {
      startsAt: at("09:00"),
      endsAt: at("10:00"),
    })

    assert.deepEqual(times(timetable, MADE_AT, 9), ["09:15"])
  })
})

describe("countInTimetable", () => {
  test.each([
    ["09:00", "09:00", 0],
    ["09:00", "10:00", 1],
    ["08:59:59.999", "10:00", 2],
    ["09:00", "09:59:59.999", 0],
  ])("occurrences after %s and up to %s are counted: %d", (after, until, count) => {
    assert.equal(countInTimetable(aTimetable([cron("0 * * * *")]), at(after), at(until), 100), count)
    assert.equal(countInTimetable(aTimetable([every(HOUR)]), at(after), at(until), 100), count)
  })

  test.each([[cron("* * * * * *")], [every(SECOND)]])("the count stops at the limit: %o", (trigger) => {
    assert.equal(countInTimetable(aTimetable([trigger]), MADE_AT, MADE_AT + DAY, 50), 50)
  })

  test.each<[string, Timetable, string, string, number]>([
    ["two intervals", aTimetable([every(HOUR), every(25 * MINUTE)]), "08:00", "10:00", 6],
    ["two one-time triggers", aTimetable([once("09:00"), once("10:00")]), "08:00", "23:00", 2],
    ["no trigger", aTimetable([]), "08:00", "23:00", 0],
    ["an end before the start", aTimetable([every(HOUR)]), "12:00", "09:00", 0],
    [
      "a span after the last occurrence",
      aTimetable([every(HOUR)], { endsAt: at("10:00") }),
      "10:00",
      "12:00",
      0,
    ],
    ["a span before the first occurrence", aTimetable([every(HOUR, at("12:00"))]), "08:00", "11:00", 0],
  ])("each instant is counted once: %s", (_, timetable, after, until, count) => {
    assert.equal(countInTimetable(timetable, at(after), at(until), 100), count)
  })

  test("the occurrences of an interval are counted by division: a hundred years of milliseconds", () => {
    const years = 36_525 * DAY

    assert.equal(countInTimetable(aTimetable([every(1)]), MADE_AT, MADE_AT + years, Infinity), years)
  })
})

describe("previousInTimetable", () => {
  test.each<[string, Timetable, string, string]>([
    ["is the later of two triggers", aTimetable([once("09:00"), once("10:00")]), "23:00", "10:00"],
    [
      "is the later of two triggers, in any order",
      aTimetable([once("10:00"), once("09:00")]),
      "23:00",
      "10:00",
    ],
    ["is strictly before", aTimetable([once("10:00"), once("09:00")]), "10:00", "09:00"],
    ["is null if there is none", aTimetable([once("10:00")]), "10:00", "never"],
    [
      "is at startsAt at the earliest",
      aTimetable([once("09:00")], { startsAt: at("09:00") }),
      "10:00",
      "09:00",
    ],
    ["is null before startsAt", aTimetable([once("09:00")], { startsAt: at("09:01") }), "10:00", "never"],
    [
      "is at endsAt at the latest",
      aTimetable([cron("0 * * * *")], { endsAt: at("11:00") }),
      "23:00",
      "11:00",
    ],
    ["is null before the anchor of an interval", aTimetable([every(HOUR, at("12:00"))]), "12:00", "never"],
    ["can be the anchor of an interval", aTimetable([every(HOUR, at("12:00"))]), "12:01", "12:00"],
  ])("the previous occurrence %s", (_, timetable, before, expected) => {
    assert.equal(clock(previousInTimetable(timetable, at(before))), expected)
  })
})

test("H depends only on the id of the schedule", () => {
  const minutes = ["a", "b", "c", "d"].map(
    (id) => times(aTimetable([cron("H * * * *")], { id }), MADE_AT, 1)[0],
  )

  assert.isAbove(new Set(minutes).size, 1)
  assert.deepEqual(times(aTimetable([cron("H * * * *")], { id: "a" }), MADE_AT, 1)[0], minutes[0])
})

test("a trigger of an unknown kind is refused", () => {
  const timetable = aTimetable([{ kind: "moon" } as unknown as Trigger])

  assert.equal(thrownBy(() => nextInTimetable(timetable, MADE_AT)).code, "BELFRY_SCHEDULE_INVALID")
})

describe("triggers written by SQL without our checks", () => {
  test("the error for an unreadable trigger has its reason", () => {
    const timetable = aTimetable([{ kind: "unreadable", why: "Its cron is 7." }])

    const error = thrownBy(() => nextInTimetable(timetable, MADE_AT))

    assert.deepEqual([error.code, error.message], ["BELFRY_SCHEDULE_INVALID", "Its cron is 7."])
  })

  test.each([0, -1, 0.5, Number.NaN])(
    "an interval of %d ms is refused instead of being searched without end",
    (everyMs) => {
      const error = thrownBy(() => nextInTimetable(aTimetable([every(everyMs)]), MADE_AT))

      assert.equal(error.code, "BELFRY_SCHEDULE_INVALID")
      assert.match(error.message, /^Trigger \{"kind":"every",.*\} can't be read\.$/)
    },
  )

  test("an interval of 1 ms can be read", () => {
    assert.equal(nextInTimetable(aTimetable([every(1)]), MADE_AT), MADE_AT + 1)
  })
})

describe("cronOf", () => {
  const parsedOf = (text: string, fields: Partial<Timetable> = {}) =>
    cronOf(aTimetable([], fields), { kind: "cron", cron: text, dayMatch: "either" })

  test("an interval has its own anchor, or that of the timetable", () => {
    const timetable = aTimetable([])

    assert.deepEqual(cronOf(timetable, { kind: "every", everyMs: HOUR, anchor: null }), {
      kind: "interval",
      expression: "",
      everyMs: HOUR,
      anchor: MADE_AT,
    })
    assert.deepInclude(cronOf(timetable, { kind: "every", everyMs: HOUR, anchor: 7 }), { anchor: 7 })
  })

  test.each([
    ["another schedule", {}, { id: "other" }, true],
    ["another anchor", {}, { anchor: at("08:20") }, true],
    ["another zone", {}, { timezone: "Europe/Berlin" }, false],
    ["another gap", {}, { dst: { ...DEFAULT_DST, gap: "skip" } }, false],
    ["another overlap", {}, { dst: { ...DEFAULT_DST, overlap: "both" } }, false],
  ] as const)(
    "a parsed expression is shared by timetables that differ only in id or anchor: %s",
    (_, fields, others, isShared) => {
      assert.equal(parsedOf("0 * * * *", fields) === parsedOf("0 * * * *", others), isShared)
    },
  )

  test("the parsed expression contains dayMatch", () => {
    const timetable = aTimetable([])
    const parsed = (dayMatch: "either" | "both") =>
      cronOf(timetable, { kind: "cron", cron: "0 9 13 * FRI", dayMatch })

    assert.deepInclude(parsed("both"), { dayMatch: "both" })
    assert.deepInclude(parsed("either"), { dayMatch: "either" })
  })

  test.each([
    ["H * * * *", { id: "other" }],
    ["h * * * *", { id: "other" }],
    ["@every 1h", { anchor: at("08:20") }],
  ])("the parsed form of %s isn't shared with a timetable that has %o", (text, others) => {
    assert.notEqual(parsedOf(text), parsedOf(text, others))
    assert.equal(parsedOf(text, others), parsedOf(text, others))
  })

  test("the parsed form of @daily is shared by schedules made at different times", () => {
    assert.equal(parsedOf("@daily"), parsedOf("@daily", { anchor: at("08:20") }))
  })

  test("at most 10,000 parsed forms are cached, then the cache is emptied", () => {
    let made = 0
    const another = () =>
      parsedOf(`${made % 60} ${Math.floor(made / 60) % 60} ${Math.floor(made++ / 3_600)} * * *`)
    const first = parsedOf("7 7 7 7 *")
    another()
    assert.equal(parsedOf("7 7 7 7 *"), first)

    while (parsedOf("7 7 7 7 *") === first && made < 20_000) another()

    assert.isAtMost(made, 10_000)
  })
})

test("a timetable has no occurrence before year 1 and none after year 9999", () => {
  const timetable = aTimetable([cron("0 0 1 6 *"), once("12:00")])

  assert.isNull(previousInTimetable(timetable, EARLIEST + DAY))
  assert.isNull(nextInTimetable(timetable, LATEST - DAY))
})

test("previousInTimetable is the inverse of nextInTimetable", () => {
  const anyTrigger = fc.oneof(
    fc.constantFrom("*/7 * * * *", "30 2 * * *", "0 0 1 * *", "*/20 * * * * *", "@every 90s").map(cron),
    fc
      .tuple(fc.integer({ min: 1_000, max: DAY }), fc.integer({ min: -DAY, max: DAY }))
      .map(([step, shift]) => every(step, MADE_AT + shift)),
    fc.integer({ min: -DAY, max: DAY }).map((shift): Trigger => ({ kind: "at", at: MADE_AT + shift })),
  )
  const zone = fc.constantFrom("UTC", "America/New_York", "Australia/Lord_Howe")
  const instant = fc.integer({ min: MADE_AT - 400 * DAY, max: MADE_AT + 400 * DAY })

  assertProperty(
    fc.property(
      fc.array(anyTrigger, { minLength: 1, maxLength: 3 }),
      zone,
      instant,
      (triggers, timezone, after) => {
        const timetable = aTimetable(triggers, {
          timezone,
          startsAt: MADE_AT - 2 * DAY,
          endsAt: MADE_AT + 300 * DAY,
        })

        const next = nextInTimetable(timetable, after)

        if (next === null) return
        assert.isAbove(next, after)
        assert.equal(previousInTimetable(timetable, next + 1), next)
        assert.isAtMost(previousInTimetable(timetable, next) ?? after, after)
      },
    ),
    { numRuns: 2_000 },
  )
})
