import { assert, describe, test } from "vitest"
import {
  aSchedule,
  at,
  clock,
  firedAt,
  ledger,
  MADE_AT,
  progressAfter,
} from "../../../test/support/records.ts"
import { DAY } from "../time/instant.ts"
import { MISSED_COUNT_MAX, owedUpTo } from "./catch-up.ts"
import { planFire } from "./fire.ts"
import { newestDue } from "./occurrence.ts"
import { NO_FACTS } from "./plan.ts"

describe("lateness", () => {
  test.each([
    ["09:00:00.000", "schedule"],
    ["09:01:00.000", "schedule"],
    ["09:01:00.001", "catchup"],
    ["09:59:59.999", "catchup"],
  ])("with a grace of 1 minute, the 09:00 run made at %s is triggered by %s", (now, triggeredBy) => {
    const { runs } = firedAt(aSchedule({ catchUp: { policy: "once", grace: "1m" } }), at(now))

    assert.deepEqual(ledger(runs), [`09:00 ${triggeredBy}`])
  })

  test("lateness counts from the due time, not from the nominal time", () => {
    const moved = { scheduledFor: at("09:00"), dueAt: at("09:30"), reason: null, by: null }
    const schedule = aSchedule({}, { overrides: [moved] })

    assert.deepEqual(ledger(firedAt(schedule, at("09:30:10")).runs), ["09:00 schedule"])
  })
})

describe("catch-up once", () => {
  test("catch-up once runs the newest missed occurrence and records the others as one range", () => {
    const { schedule, runs } = firedAt(aSchedule(), at("13:20"))

    assert.deepEqual(ledger(runs), ["09:00-12:00 (4) skipped coalesced", "13:00 catchup"])
    assert.equal(clock(schedule.nextRunAt), "14:00")
    assert.equal(schedule.firedCount, 1)
  })

  test("the catch-up run carries the range and the count of the occurrences it stands for", () => {
    const { runs } = firedAt(aSchedule(), at("13:20"))

    assert.deepEqual(runs[1]?.missed, { from: at("09:00"), until: at("12:00"), count: 4 })
  })

  test("the range has an id that no occurrence has, so no run can replace it", () => {
    const [range] = firedAt(aSchedule(), at("13:20")).runs

    assert.equal(range?.id, "report@2026-03-10T09:00:00Z..2026-03-10T12:00:00Z")
    assert.deepInclude(range, { state: "skipped", payload: null, liveKey: null, notBefore: null })
  })

  test("one missed occurrence before the newest is recorded by itself, not as a range", () => {
    const { runs } = firedAt(aSchedule(), at("10:00"))

    assert.deepEqual(ledger(runs), ["09:00 skipped coalesced", "10:00 catchup"])
    assert.isNull(runs[0]!.missed)
  })

  test("an occurrence missed 300 days ago still runs", () => {
    const { runs } = firedAt(aSchedule({ at: at("09:00") }), at("09:00") + 300 * DAY)

    assert.deepEqual(ledger(runs), ["09:00 catchup"])
  })

  test("if an operator skipped the newest occurrence, the one before it runs", () => {
    const skipped = { scheduledFor: at("11:00"), dueAt: null, reason: "holiday", by: "ada" }
    const { runs } = firedAt(aSchedule({}, { overrides: [skipped] }), at("11:30"))

    assert.deepEqual(ledger(runs), ["11:00 skipped operator", "09:00 skipped coalesced", "10:00 catchup"])
    assert.equal(runs[0]?.message, "holiday")
  })
})

describe("catch-up none", () => {
  const none = { catchUp: { policy: "none", grace: "10m" } } as const

  test("an occurrence no later than the grace still runs", () => {
    assert.deepEqual(ledger(firedAt(aSchedule(none), at("09:10")).runs), ["09:00 schedule"])
  })

  test("an occurrence later than the grace is recorded as missed", () => {
    const { schedule, runs } = firedAt(aSchedule(none), at("09:10:00.001"))

    assert.deepEqual(ledger(runs), ["09:00 skipped missed"])
    assert.deepInclude(schedule, { firedCount: 0, nextRunAt: at("10:00") })
  })

  test("the grace counts from the due time", () => {
    const moved = { scheduledFor: at("09:00"), dueAt: at("09:40"), reason: null, by: null }

    assert.deepEqual(ledger(firedAt(aSchedule(none, { overrides: [moved] }), at("09:45")).runs), [
      "09:00 schedule",
    ])
  })

  test("after a long outage all missed occurrences are one range, and an occurrence within the grace runs", () => {
    const { runs } = firedAt(aSchedule(none), at("13:05"))

    assert.deepEqual(ledger(runs), ["09:00-12:00 (4) skipped missed", "13:00 schedule"])
    assert.isNull(runs[1]!.missed)
  })

  test("a one-time schedule that was missed is finished without a run", () => {
    const { schedule, runs } = firedAt(aSchedule({ ...none, at: at("09:00") }), at("12:00"))

    assert.deepEqual(ledger(runs), ["09:00 skipped missed"])
    assert.equal(schedule.finishedAt, at("12:00"))
  })
})

describe("catch-up all", () => {
  const all = (window: "2h" | "1d", limit: number) =>
    ({ catchUp: { policy: "all", window, limit }, overlap: "allow" }) as const

  test("catch-up all runs each missed occurrence, oldest first", () => {
    const { schedule, runs } = firedAt(aSchedule(all("1d", 100)), at("11:30"))

    assert.deepEqual(ledger(runs), ["09:00 catchup", "10:00 catchup", "11:00 catchup"])
    assert.deepInclude(schedule, { firedCount: 3 })
  })

  test("a limit above 1,000, written by SQL without our checks, keeps 1,000 occurrences", () => {
    const schedule = aSchedule({ cron: "* * * * * *", ...all("1d", 1_000) })
    const catchUp = { ...schedule.catchUp, limit: 1e300 }

    const { kept, rest } = owedUpTo(newestDue(schedule, at("08:30")), { ...schedule, catchUp }, at("08:30"))

    assert.equal(kept.length, 1_000)
    assert.equal(rest[0]?.count, 800)
  })

  test("catch-up all runs the newest occurrences up to the limit and records the rest as one range", () => {
    const { runs } = firedAt(aSchedule(all("1d", 2)), at("13:30"))

    assert.deepEqual(ledger(runs), ["09:00-11:00 (3) skipped missed", "12:00 catchup", "13:00 catchup"])
  })

  test("catch-up all runs the occurrences in the window and records the rest as one range", () => {
    const { runs } = firedAt(aSchedule(all("2h", 100)), at("13:00"))

    assert.deepEqual(ledger(runs), [
      "09:00-10:00 (2) skipped missed",
      "11:00 catchup",
      "12:00 catchup",
      "13:00 schedule",
    ])
  })

  test("an occurrence that an operator skipped is recorded by itself and doesn't count towards the limit", () => {
    const skipped = { scheduledFor: at("10:00"), dueAt: null, reason: null, by: null }
    const { runs } = firedAt(aSchedule(all("1d", 2), { overrides: [skipped] }), at("11:30"))

    assert.deepEqual(ledger(runs), ["10:00 skipped operator", "09:00 catchup", "11:00 catchup"])
  })

  test("with catch-up all no run stands for missed occurrences", () => {
    const { runs } = firedAt(aSchedule(all("1d", 2)), at("13:30"))

    assert.deepEqual(
      runs.slice(1).map((run) => run.missed),
      [null, null],
    )
  })
})

describe("long outages", () => {
  test("the count stops at 10,000, and the range still has its first and last instant", () => {
    const [range] = firedAt(aSchedule({ cron: "* * * * * *" }), MADE_AT + DAY).runs

    assert.deepEqual(range?.missed, {
      from: MADE_AT + 1_000,
      until: MADE_AT + DAY - 1_000,
      count: MISSED_COUNT_MAX,
    })
  })

  test.each([{ cron: "* * * * * *" }, { every: "1s" }, { cron: "@every 1s" }] as const)(
    "a year of missed seconds with %o is one run and one record",
    (options) => {
      const plan = planFire(aSchedule(options), NO_FACTS, MADE_AT + 365 * DAY)

      assert.equal(plan.runs.length, 2)
    },
  )

  test("an occurrence that an operator added is counted like any other", () => {
    const added = { scheduledFor: at("09:20"), dueAt: at("09:20"), reason: null, by: null }
    const [range] = firedAt(aSchedule({}, { overrides: [added] }), at("11:00")).runs

    assert.deepEqual(ledger([range!]), ["09:00-10:00 (3) skipped coalesced"])
  })
})

test("when nothing is owed, coveredUntil doesn't move", () => {
  const schedule = aSchedule()

  const owed = owedUpTo(newestDue(schedule, at("08:30")), schedule, at("08:30"))

  assert.deepInclude(owed, { kept: [], skipped: [], rest: [], coveredUntil: MADE_AT })
})

test("after catching up, the next run of the schedule is in the future", () => {
  const plan = planFire(aSchedule({ cron: "*/5 * * * *" }), NO_FACTS, at("11:03"))

  assert.equal(clock(progressAfter(plan).nextRunAt), "11:05")
})
