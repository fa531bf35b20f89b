import { assert, describe, test } from "vitest"
import { aSchedule, at, clock } from "../../../test/support/records.ts"
import type { Missed } from "../run/run.ts"
import type { Schedule } from "../schedule/schedule.ts"
import { HOUR, MINUTE } from "../time/instant.ts"
import { gapsIn, MISSED_COUNT_MAX, mergedRange, owedUpTo } from "./catch-up.ts"
import { newestDue } from "./occurrence.ts"
import type { Recorded } from "./plan.ts"

// These records were made by processes that fired from memory while schedules couldn't be read.

/** Each text is one instant (`11:00`) or a range (`10:00-12:00`). */
function recorded(...texts: readonly string[]): readonly Recorded[] {
  return texts.map((text) => {
    const [from, until = from] = text.split("-") as [string, string?]
    return { from: at(from), until: at(until), isRun: true }
  })
}

const ranges = (missed: readonly Missed[]) =>
  missed.map(({ from, until, count }) => `${clock(from)}-${clock(until)} (${count})`)

describe("occurrences without a record", () => {
  const hourly = aSchedule()
  const span = { after: at("08:00"), until: at("14:00") }

  test("a span without records is one range of missed occurrences", () => {
    assert.deepEqual(ranges(gapsIn(hourly, span)), ["09:00-14:00 (6)"])
  })

  test.each([
    [[], ["09:00-14:00 (6)"]],
    [["11:00"], ["09:00-10:00 (2)", "12:00-14:00 (3)"]],
    [["09:00"], ["10:00-14:00 (5)"]],
    [["14:00"], ["09:00-13:00 (5)"]],
    [["10:00-12:00"], ["09:00-09:00 (1)", "13:00-14:00 (2)"]],
    [
      ["10:00", "12:00"],
      ["09:00-09:00 (1)", "11:00-11:00 (1)", "13:00-14:00 (2)"],
    ],
    [
      ["10:00", "11:00-12:00"],
      ["09:00-09:00 (1)", "13:00-14:00 (2)"],
    ],
    [["07:00-09:00"], ["10:00-14:00 (5)"]],
    [["13:00-20:00"], ["09:00-12:00 (4)"]],
    [["09:00-14:00"], []],
    [["07:00-20:00"], []],
    [["06:00-07:00", "08:00", "15:00"], ["09:00-14:00 (6)"]],
    [["05:00", "07:00"], ["09:00-14:00 (6)"]],
  ])("with the records %j, the occurrences without a record are %j", (records, gaps) => {
    assert.deepEqual(ranges(gapsIn(hourly, span, recorded(...records))), gaps)
  })

  test.each<[string, Schedule, { after: string; until: string }]>([
    ["after the last occurrence", aSchedule({ endsAt: at("10:00") }), { after: "10:00", until: "14:00" }],
    ["before the first occurrence", aSchedule({ at: at("12:00") }), { after: "08:00", until: "09:00" }],
    ["between two occurrences", aSchedule(), { after: "09:00", until: "09:59" }],
  ])("a span %s has no missed occurrence", (_, schedule, { after, until }) => {
    assert.deepEqual(gapsIn(schedule, { after: at(after), until: at(until) }), [])
  })

  test("an instant too close after a run, by the schedule's spacing, isn't missed", () => {
    const spaced = aSchedule({ spacing: "2h" })

    assert.deepEqual(ranges(gapsIn(spaced, span, recorded("10:00", "12:00"))), [
      "09:00-09:00 (1)",
      "14:00-14:00 (1)",
    ])
    const skipped = recorded("10:00").map((each) => ({ ...each, isRun: false }))
    assert.deepEqual(ranges(gapsIn(spaced, span, skipped)), ["09:00-09:00 (1)", "11:00-14:00 (4)"])
  })

  test("a span excludes its first instant and includes its last, to the millisecond", () => {
    assert.deepEqual(ranges(gapsIn(hourly, { after: at("09:00") - 1, until: at("10:00") - 1 })), [
      "09:00-09:00 (1)",
    ])
  })
})

describe("more than 100 records", () => {
  const minutely = aSchedule({ cron: "* * * * *" })
  const minutes = (count: number) => at("08:00") + count * MINUTE
  /** The given records, then one for every second minute from 08:06 on: 102 in total. */
  function manyRecords(first: Recorded, second: Recorded): readonly Recorded[] {
    const others = Array.from({ length: 100 }, (_, index) => minutes(6 + 2 * index))
    return [first, second, ...others.map((each) => ({ from: each, until: each, isRun: true }))]
  }
  const gapsOf = (records: readonly Recorded[]) =>
    gapsIn(minutely, { after: minutes(0), until: records.at(-1)!.until + MINUTE }, records)

  test("gaps between the newest 100 records are separate, and older gaps are one range that doesn't count records", () => {
    const gaps = gapsOf(manyRecords(...(recorded("08:02", "08:04") as [Recorded, Recorded])))

    assert.equal(gaps.length, 101)
    assert.deepEqual(ranges(gaps.slice(0, 3)), ["08:01-08:05 (3)", "08:07-08:07 (1)", "08:09-08:09 (1)"])
    assert.deepEqual(ranges(gaps.slice(-1)), ["11:25-11:25 (1)"])
  })

  test("the part of an older record before the span isn't subtracted from the count", () => {
    const gaps = gapsOf(manyRecords(...(recorded("07:50-08:02", "08:04") as [Recorded, Recorded])))

    assert.deepEqual(ranges(gaps.slice(0, 1)), ["08:01-08:05 (2)"])
  })

  test("if the older records cover every older occurrence, there is no range around them", () => {
    const gaps = gapsOf(manyRecords(...(recorded("07:50-08:03", "08:04-08:05") as [Recorded, Recorded])))

    assert.equal(gaps.length, 100)
    assert.deepEqual(ranges(gaps.slice(0, 1)), ["08:07-08:07 (1)"])
  })
})

describe("owed occurrences when some have a record", () => {
  /** The decision at 12:30 on the occurrences of 09:00 to 12:00. */
  function owed(schedule: Schedule, records: readonly string[]) {
    const now = at("12:30")
    const decision = owedUpTo(newestDue(schedule, now), schedule, now, recorded(...records))
    const { kept, skipped, rest, coveredUntil } = decision
    return {
      kept: kept.map(({ scheduledFor }) => clock(scheduledFor)),
      skipped: skipped.map(({ scheduledFor }) => clock(scheduledFor)),
      rest: ranges(rest),
      coveredUntil: clock(coveredUntil),
    }
  }
  const once = aSchedule({ catchUp: "once" })
  const all = aSchedule({ catchUp: "all", overlap: "allow" })
  const two = aSchedule({ catchUp: { policy: "all", limit: 2 }, overlap: "allow" })

  test.each<[string, Schedule]>([
    ["once", once],
    ["none", aSchedule({ catchUp: "none" })],
  ])("with catch-up %s, an occurrence that an operator skipped stays skipped", (_policy, schedule) => {
    const overrides = ["09:00", "11:00"].map((text) => ({
      ...{ scheduledFor: at(text), dueAt: null, reason: "holiday", by: "ada" },
    }))

    const { skipped, rest } = owed({ ...schedule, overrides }, [])
    const withRecord = owed({ ...schedule, overrides }, ["11:00"])

    assert.deepEqual(skipped, ["09:00", "11:00"])
    assert.deepEqual(rest[0], "10:00-10:00 (1)")
    assert.deepEqual(withRecord.skipped, ["09:00"])
  })

  test("occurrences skipped by an operator are listed oldest first, without the settled and the recorded ones", () => {
    const overrides = ["11:00", "08:00", "09:00"].map((text) => ({
      ...{ scheduledFor: at(text), dueAt: null, reason: null, by: null },
    }))

    assert.deepEqual(owed({ ...once, overrides }, []).skipped, ["09:00", "11:00"])
    assert.deepEqual(owed({ ...once, overrides }, ["09:00-10:00"]).skipped, ["11:00"])
  })

  test.each<[string, Schedule, string[], string[], string[]]>([
    ["once and no records", once, [], ["12:00"], ["09:00-11:00 (3)"]],
    ["once and a record before the newest", once, ["11:00"], ["12:00"], ["09:00-10:00 (2)"]],
    ["once and a record of the newest", once, ["12:00"], [], ["09:00-11:00 (3)"]],
    ["once and a record in the middle", once, ["10:00"], ["12:00"], ["09:00-09:00 (1)", "11:00-11:00 (1)"]],
    ["once and a record of all occurrences", once, ["09:00-12:00"], [], []],
    ["all and no records", all, [], ["09:00", "10:00", "11:00", "12:00"], []],
    ["all and one record", all, ["11:00"], ["09:00", "10:00", "12:00"], []],
    ["all and a record of the first", all, ["09:00"], ["10:00", "11:00", "12:00"], []],
    ["all and a recorded range", all, ["10:00-11:00"], ["09:00", "12:00"], []],
    ["all and two separate records", all, ["09:00", "11:00"], ["10:00", "12:00"], []],
    ["all with limit 2 and a record of the newest", two, ["12:00"], ["10:00", "11:00"], ["09:00-09:00 (1)"]],
    ["all with limit 2 and a record in between", two, ["11:00"], ["10:00", "12:00"], ["09:00-09:00 (1)"]],
  ])(
    "with catch-up %s, exactly the occurrences without a record are decided",
    (_, schedule, records, kept, rest) => {
      assert.deepEqual(owed(schedule, records), { kept, skipped: [], rest, coveredUntil: "12:00" })
    },
  )

  test("an occurrence that an operator skipped and that has a record isn't recorded again", () => {
    const overrides = ["10:00", "11:00"].map((time) => ({
      scheduledFor: at(time),
      dueAt: null,
      reason: null,
      by: null,
    }))
    const schedule = { ...all, overrides }

    assert.deepEqual(owed(schedule, ["11:00"]), {
      kept: ["09:00", "12:00"],
      skipped: ["10:00"],
      rest: [],
      coveredUntil: "12:00",
    })
  })

  test("a recorded range is passed over, also when an operator skipped its last occurrence", () => {
    const overrides = [{ scheduledFor: at("12:00"), dueAt: null, reason: null, by: null }]

    for (const schedule of [once, all]) {
      const { kept, skipped, rest } = owed({ ...schedule, overrides }, ["10:00-12:00"])
      assert.deepEqual([...kept, ...skipped, ...rest], [schedule === once ? "09:00-09:00 (1)" : "09:00"])
    }
  })

  test.each([once, all])(
    "a recorded range is passed in one step, whatever number of occurrences it stands for",
    (policy) => {
      let reads = 0
      const schedule = {
        ...policy,
        triggers: aSchedule({ cron: "* * * * * *" }).triggers,
        get overrides() {
          reads++
          return []
        },
      }

      // A process that lost the race reads the schedule as it was, and the range that the winner recorded.
      const records = recorded("08:00:01-12:29:58", "12:29:59", "12:30:00")
      owedUpTo(newestDue(schedule, at("12:30")), schedule, at("12:30"), records)

      assert.isBelow(reads, 100)
    },
  )

  test("with nothing owed the decision is empty, and coveredUntil stays, or is now if it was null", () => {
    const owedOf = (schedule: Schedule) => owedUpTo(null, schedule, at("12:30"))

    assert.deepInclude(owedOf(all), { kept: [], skipped: [], rest: [], coveredUntil: at("08:00") })
    assert.equal(owedOf({ ...all, coveredUntil: null }).coveredUntil, at("12:30"))
  })
})

describe("the count of missed occurrences", () => {
  const added = (time: string) => ({ scheduledFor: at(time), dueAt: at(time), reason: null, by: null })
  const countOf = (schedule: Schedule, after: string, until: string) =>
    gapsIn(schedule, { after: at(after), until: at(until) })[0]?.count

  test("an occurrence that an operator added counts once, and a moved occurrence doesn't count twice", () => {
    const overrides = [added("08:30"), added("09:30"), added("10:00"), added("10:30"), added("11:30")]
    const schedule = aSchedule({}, { overrides })

    // 09:30, 10:00 and 10:30: the span excludes its first instant and includes its last.
    assert.equal(countOf(schedule, "09:00", "10:30"), 3)
    assert.equal(countOf(schedule, "08:30", "09:30"), 2)
  })

  test("the count stops at 10,000, including added occurrences", () => {
    const overrides = [added("08:00:00.500")]
    const schedule = aSchedule({ cron: "* * * * * *" }, { overrides })

    const [gap] = gapsIn(schedule, { after: at("08:00"), until: at("08:00") + 10 * HOUR })

    assert.equal(gap?.count, MISSED_COUNT_MAX)
  })
})

describe("the missed range of a catch-up run", () => {
  const range = (from: string, until: string, count: number) => ({ from: at(from), until: at(until), count })

  test("the missed range lasts from the first gap to the last and sums their counts", () => {
    const ranges = [range("09:00", "10:00", 2), range("12:00", "12:00", 1), range("14:00", "16:00", 3)]

    assert.deepEqual(mergedRange(ranges), range("09:00", "16:00", 6))
    assert.deepEqual(mergedRange(ranges.slice(0, 1)), range("09:00", "10:00", 2))
    assert.isNull(mergedRange([]))
  })

  test("the count of the missed range stops at 10,000", () => {
    const ranges = [range("09:00", "10:00", 6_000), range("12:00", "13:00", 6_000)]

    assert.equal(mergedRange(ranges)?.count, MISSED_COUNT_MAX)
  })
})
