import { assert, describe, test } from "vitest"
import { aSchedule, at, clock } from "../../test/support/records.ts"
import { foldedIn, gapsIn, MISSED_COUNT_MAX, owedUpTo } from "./catch-up.ts"
import { HOUR, MINUTE } from "./instant.ts"
import { newestDue } from "./occurrence.ts"
import type { Recorded } from "./plan.ts"
import type { Missed } from "./run.ts"
import type { Schedule } from "./schedule.ts"

/** Occurrences that have a record already: processes made it from memory while schedules couldn't be read. */

/** `11:00`, or `10:00-12:00`. */
function recorded(...texts: readonly string[]): readonly Recorded[] {
  return texts.map((text) => {
    const [from, until = from] = text.split("-") as [string, string?]
    return { from: at(from), until: at(until), isRun: true }
  })
}

const ranges = (missed: readonly Missed[]) =>
  missed.map(({ from, until, count }) => `${clock(from)}-${clock(until)} (${count})`)

describe("what has no record", () => {
  const hourly = aSchedule()
  const span = { after: at("08:00"), until: at("14:00") }

  test("without records it is one range", () => {
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
  ])("beside the records %j it is %j", (records, gaps) => {
    assert.deepEqual(ranges(gapsIn(hourly, span, recorded(...records))), gaps)
  })

  test.each<[string, Schedule, { after: string; until: string }]>([
    ["after the last occurrence", aSchedule({ endsAt: at("10:00") }), { after: "10:00", until: "14:00" }],
    ["before the first occurrence", aSchedule({ at: at("12:00") }), { after: "08:00", until: "09:00" }],
    ["between two occurrences", aSchedule(), { after: "09:00", until: "09:59" }],
  ])("%s there is nothing", (_, schedule, { after, until }) => {
    assert.deepEqual(gapsIn(schedule, { after: at(after), until: at(until) }), [])
  })

  test("an instant that spacing leaves out after a run isn't missing", () => {
    const spaced = aSchedule({ spacing: "2h" })

    assert.deepEqual(ranges(gapsIn(spaced, span, recorded("10:00", "12:00"))), [
      "09:00-09:00 (1)",
      "14:00-14:00 (1)",
    ])
    const skipped = recorded("10:00").map((each) => ({ ...each, isRun: false }))
    assert.deepEqual(ranges(gapsIn(spaced, span, skipped)), ["09:00-09:00 (1)", "11:00-14:00 (4)"])
  })

  test("up to the millisecond", () => {
    assert.deepEqual(ranges(gapsIn(hourly, { after: at("09:00") - 1, until: at("10:00") - 1 })), [
      "09:00-09:00 (1)",
    ])
  })
})

describe("with more than a hundred records", () => {
  const minutely = aSchedule({ cron: "* * * * *" })
  const minutes = (count: number) => at("08:00") + count * MINUTE
  /** The given ones, then each second minute from 08:06 on until there are 102. */
  function manyRecords(first: Recorded, second: Recorded): readonly Recorded[] {
    const others = Array.from({ length: 100 }, (_, index) => minutes(6 + 2 * index))
    return [first, second, ...others.map((each) => ({ from: each, until: each, isRun: true }))]
  }
  const gapsOf = (records: readonly Recorded[]) =>
    gapsIn(minutely, { after: minutes(0), until: records.at(-1)!.until + MINUTE }, records)

  test("the newest hundred are told apart, and the older ones lie in one range that doesn't count them", () => {
    const gaps = gapsOf(manyRecords(...(recorded("08:02", "08:04") as [Recorded, Recorded])))

    assert.equal(gaps.length, 101)
    assert.deepEqual(ranges(gaps.slice(0, 3)), ["08:01-08:05 (3)", "08:07-08:07 (1)", "08:09-08:09 (1)"])
    assert.deepEqual(ranges(gaps.slice(-1)), ["11:25-11:25 (1)"])
  })

  test("what an older one records from before doesn't count", () => {
    const gaps = gapsOf(manyRecords(...(recorded("07:50-08:02", "08:04") as [Recorded, Recorded])))

    assert.deepEqual(ranges(gaps.slice(0, 1)), ["08:01-08:05 (2)"])
  })

  test("if the older ones record everything, there is no range around them", () => {
    const gaps = gapsOf(manyRecords(...(recorded("07:50-08:03", "08:04-08:05") as [Recorded, Recorded])))

    assert.equal(gaps.length, 100)
    assert.deepEqual(ranges(gaps.slice(0, 1)), ["08:07-08:07 (1)"])
  })
})

describe("what is owed beside records", () => {
  /** What becomes of the occurrences of 09:00 to 12:00 at half past twelve. */
  function owed(schedule: Schedule, records: readonly string[]) {
    const now = at("12:30")
    const decision = owedUpTo(newestDue(schedule, now), schedule, now, recorded(...records))
    const { kept, left, rest, coveredUntil } = decision
    return {
      kept: kept.map(({ scheduledFor }) => clock(scheduledFor)),
      left: left.map(({ scheduledFor }) => clock(scheduledFor)),
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
  ])("what an operator left out stays so, with catch-up %s", (_policy, schedule) => {
    const overrides = ["09:00", "11:00"].map((text) => ({
      ...{ scheduledFor: at(text), dueAt: null, reason: "holiday", by: "ada" },
    }))

    const { left, rest } = owed({ ...schedule, overrides }, [])
    const beside = owed({ ...schedule, overrides }, ["11:00"])

    assert.deepEqual(left, ["09:00", "11:00"])
    assert.deepEqual(rest[0], "10:00-10:00 (1)")
    assert.deepEqual(beside.left, ["09:00"])
  })

  test("what an operator left out is in order, and only what isn't settled or recorded", () => {
    const overrides = ["11:00", "08:00", "09:00"].map((text) => ({
      ...{ scheduledFor: at(text), dueAt: null, reason: null, by: null },
    }))

    assert.deepEqual(owed({ ...once, overrides }, []).left, ["09:00", "11:00"])
    assert.deepEqual(owed({ ...once, overrides }, ["09:00-10:00"]).left, ["11:00"])
  })

  test.each<[string, Schedule, string[], string[], string[]]>([
    ["once, no records", once, [], ["12:00"], ["09:00-11:00 (3)"]],
    ["once, one before the newest", once, ["11:00"], ["12:00"], ["09:00-10:00 (2)"]],
    ["once, the newest itself", once, ["12:00"], [], ["09:00-11:00 (3)"]],
    ["once, one in the middle", once, ["10:00"], ["12:00"], ["09:00-09:00 (1)", "11:00-11:00 (1)"]],
    ["once, all of them", once, ["09:00-12:00"], [], []],
    ["all, no records", all, [], ["09:00", "10:00", "11:00", "12:00"], []],
    ["all, one of them", all, ["11:00"], ["09:00", "10:00", "12:00"], []],
    ["all, the first", all, ["09:00"], ["10:00", "11:00", "12:00"], []],
    ["all, a range", all, ["10:00-11:00"], ["09:00", "12:00"], []],
    ["all, two apart", all, ["09:00", "11:00"], ["10:00", "12:00"], []],
    ["two of all, the newest", two, ["12:00"], ["10:00", "11:00"], ["09:00-09:00 (1)"]],
    ["two of all, one between", two, ["11:00"], ["10:00", "12:00"], ["09:00-09:00 (1)"]],
  ])("%s", (_, schedule, records, kept, rest) => {
    assert.deepEqual(owed(schedule, records), { kept, left: [], rest, coveredUntil: "12:00" })
  })

  test("one that an operator left out isn't recorded again", () => {
    const overrides = ["10:00", "11:00"].map((time) => ({
      scheduledFor: at(time),
      dueAt: null,
      reason: null,
      by: null,
    }))
    const schedule = { ...all, overrides }

    assert.deepEqual(owed(schedule, ["11:00"]), {
      kept: ["09:00", "12:00"],
      left: ["10:00"],
      rest: [],
      coveredUntil: "12:00",
    })
  })

  test("one that an operator left out at the end of a recorded range is passed, and so is the range", () => {
    const overrides = [{ scheduledFor: at("12:00"), dueAt: null, reason: null, by: null }]

    for (const schedule of [once, all]) {
      const { kept, left, rest } = owed({ ...schedule, overrides }, ["10:00-12:00"])
      assert.deepEqual([...kept, ...left, ...rest], [schedule === once ? "09:00-09:00 (1)" : "09:00"])
    }
  })

  test.each([once, all])("a recorded range costs one look, however many it stands for", (policy) => {
    let looks = 0
    const schedule = {
      ...policy,
      triggers: aSchedule({ cron: "* * * * * *" }).triggers,
      get overrides() {
        looks++
        return []
      },
    }

    // A process that lost the race reads the schedule as it was, and the range that the winner recorded.
    const records = recorded("08:00:01-12:29:58", "12:29:59", "12:30:00")
    owedUpTo(newestDue(schedule, at("12:30")), schedule, at("12:30"), records)

    assert.isBelow(looks, 100)
  })

  test("of nothing is nothing, up to what is settled, or up to now", () => {
    const owedOf = (schedule: Schedule) => owedUpTo(null, schedule, at("12:30"))

    assert.deepInclude(owedOf(all), { kept: [], left: [], rest: [], coveredUntil: at("08:00") })
    assert.equal(owedOf({ ...all, coveredUntil: null }).coveredUntil, at("12:30"))
  })
})

describe("counting", () => {
  const added = (time: string) => ({ scheduledFor: at(time), dueAt: at(time), reason: null, by: null })
  const countOf = (schedule: Schedule, after: string, until: string) =>
    gapsIn(schedule, { after: at(after), until: at(until) })[0]?.count

  test("what an operator added counts where it is, once, and what was only moved doesn't count twice", () => {
    const overrides = [added("08:30"), added("09:30"), added("10:00"), added("10:30"), added("11:30")]
    const schedule = aSchedule({}, { overrides })

    // 09:30, 10:00 and 10:30: not the one at its beginning, but the one at its end.
    assert.equal(countOf(schedule, "09:00", "10:30"), 3)
    assert.equal(countOf(schedule, "08:30", "09:30"), 2)
  })

  test("stops at ten thousand, with those that were added", () => {
    const overrides = [added("08:00:00.500")]
    const schedule = aSchedule({ cron: "* * * * * *" }, { overrides })

    const [gap] = gapsIn(schedule, { after: at("08:00"), until: at("08:00") + 10 * HOUR })

    assert.equal(gap?.count, MISSED_COUNT_MAX)
  })
})

describe("what a run stands for", () => {
  const range = (from: string, until: string, count: number) => ({ from: at(from), until: at(until), count })

  test("is from the first range to the last, with all counts", () => {
    const ranges = [range("09:00", "10:00", 2), range("12:00", "12:00", 1), range("14:00", "16:00", 3)]

    assert.deepEqual(foldedIn(ranges), range("09:00", "16:00", 6))
    assert.deepEqual(foldedIn(ranges.slice(0, 1)), range("09:00", "10:00", 2))
    assert.isNull(foldedIn([]))
  })

  test("is counted up to ten thousand", () => {
    const ranges = [range("09:00", "10:00", 6_000), range("12:00", "13:00", 6_000)]

    assert.equal(foldedIn(ranges)?.count, MISSED_COUNT_MAX)
  })
})
