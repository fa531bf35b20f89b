import { assert, describe, test } from "vitest"
import {
  applied,
  aRunRef,
  aSchedule,
  at,
  clock,
  firedAt,
  ledger,
  progressAfter,
  withUnfinished,
} from "../../../test/support/records.ts"
import { concurrencyKeyOf } from "../schedule/schedule.ts"
import { DAY, HOUR, type Instant, LATEST } from "../time/instant.ts"
import { planFire, planSettle } from "./fire.ts"
import { NO_FACTS, UNFINISHED_FACTS_MAX } from "./plan.ts"

const running = aRunRef({ id: "report@2026-03-10T08:00:00Z", state: "running", attempt: 2 })
const waiting = aRunRef({ id: "report@2026-03-10T08:30:00Z", state: "pending", attempt: 0 })

describe("overlap skip", () => {
  test("an occurrence is skipped while an earlier run is unfinished, and its message names that run", () => {
    const plan = planFire(aSchedule(), withUnfinished(running), at("09:00"))

    assert.deepEqual(ledger(plan.runs), ["09:00 skipped overlap"])
    assert.equal(plan.runs[0]?.message, "Still unfinished: report@2026-03-10T08:00:00Z")
    assert.deepInclude(plan.progress, { firedCount: 0, nextRunAt: at("10:00") })
  })

  test("each run has the live key, in case another run appears after the facts were read", () => {
    const [run] = planFire(aSchedule(), NO_FACTS, at("09:00")).runs

    assert.equal(run?.liveKey, concurrencyKeyOf("report"))
  })
})

describe("overlap queue", () => {
  test.each([
    [[], "09:00 schedule"],
    [[running], "09:00 schedule"],
    [[running, waiting], "09:00 schedule"],
    [[running, waiting, waiting], "09:00 skipped capacity"],
  ])("with room for two waiting runs and %j unfinished, the record is %s", (unfinished, record) => {
    const schedule = aSchedule({ overlap: { policy: "queue", limit: 2 } })

    assert.deepEqual(ledger(planFire(schedule, withUnfinished(...unfinished), at("09:00")).runs), [record])
  })

  test("a queue is full at UNFINISHED_FACTS_MAX unfinished runs, whatever its limit", () => {
    const schedule = aSchedule({ overlap: { policy: "queue", limit: 50 }, maxConcurrentRuns: 80 })
    const planned = (count: number) =>
      planFire(schedule, withUnfinished(...Array(count).fill(running)), at("09:00"))

    assert.deepEqual(ledger(planned(UNFINISHED_FACTS_MAX - 1).runs), ["09:00 schedule"])
    assert.deepEqual(ledger(planned(UNFINISHED_FACTS_MAX).runs), ["09:00 skipped capacity"])
  })

  test("maxConcurrentRuns runs may be performed at once and don't count as waiting", () => {
    const schedule = aSchedule({ overlap: { policy: "queue", limit: 1 }, maxConcurrentRuns: 3 })
    const planned = (count: number) =>
      planFire(schedule, withUnfinished(...Array(count).fill(running)), at("09:00"))

    assert.deepEqual(ledger(planned(3).runs), ["09:00 schedule"])
    assert.deepEqual(ledger(planned(4).runs), ["09:00 skipped capacity"])
  })

  test("the runs of one plan count towards the limit of the queue", () => {
    const schedule = aSchedule({ overlap: { policy: "queue", limit: 1 }, catchUp: "all" })

    const { runs, progress } = planFire(schedule, NO_FACTS, at("11:00"))

    assert.deepEqual(ledger(runs), ["09:00 catchup", "10:00 catchup"])
    assert.equal(progress!.coveredUntil, at("10:00"))
  })

  test("a single occurrence that is on time is skipped if the queue is full", () => {
    const schedule = aSchedule({ overlap: { policy: "queue", limit: 1 }, catchUp: "all" })

    const { runs } = planFire(schedule, withUnfinished(running, waiting), at("09:00"))

    assert.deepEqual(ledger(runs), ["09:00 skipped capacity"])
  })

  describe("with catch-up all", () => {
    const schedule = aSchedule({ overlap: { policy: "queue", limit: 2 }, catchUp: "all" })

    test("late occurrences for which the queue has no room stay owed, and the schedule is due again in 1 s", () => {
      const { runs, progress } = planFire(schedule, NO_FACTS, at("15:30"))

      assert.deepEqual(ledger(runs), ["09:00 catchup", "10:00 catchup", "11:00 catchup"])
      assert.deepInclude(progress, { coveredUntil: at("11:00"), nextRunAt: at("15:30:01"), finishedAt: null })
    })

    test("owed occurrences become runs, oldest first, when the queue has room", () => {
      const first = applied(schedule, planFire(schedule, NO_FACTS, at("15:30")))
      const second = planFire(first, withUnfinished(running, waiting), at("15:31"))
      const third = planFire(applied(first, second), NO_FACTS, at("15:32"))

      assert.deepEqual(ledger(second.runs), ["12:00 catchup"])
      assert.deepEqual(ledger(third.runs), ["13:00 catchup", "14:00 catchup", "15:00 catchup"])
      assert.equal(clock(third.progress!.nextRunAt), "16:00")
    })

    test("an occurrence that an operator skipped is recorded in its turn among the owed occurrences", () => {
      const skipped = { scheduledFor: at("13:00"), dueAt: null, reason: null, by: null }
      const first = planFire({ ...schedule, overrides: [skipped] }, NO_FACTS, at("15:30"))
      const second = planFire(applied(schedule, first), NO_FACTS, at("15:31"))

      assert.deepEqual(ledger(first.runs), ["09:00 catchup", "10:00 catchup", "11:00 catchup"])
      assert.deepEqual(ledger(second.runs), [
        "13:00 skipped operator",
        "12:00 catchup",
        "14:00 catchup",
        "15:00 catchup",
      ])
    })

    test("an edit records owed occurrences for which the queue has no room", () => {
      const plan = planSettle(schedule, NO_FACTS, at("13:30"))

      assert.deepEqual(ledger(plan!.runs), [
        "12:00 skipped capacity",
        "13:00 skipped capacity",
        "09:00 catchup",
        "10:00 catchup",
        "11:00 catchup",
      ])
    })
  })

  test("queued runs are performed one after another", () => {
    const [run] = planFire(aSchedule({ overlap: "queue" }), NO_FACTS, at("09:00")).runs

    assert.deepInclude(run, { liveKey: null, concurrencyKey: "schedule:report", concurrencyLimit: 1 })
  })
})

describe("overlap replace", () => {
  test("unfinished runs are cancelled in favour of the new run", () => {
    const plan = planFire(aSchedule({ overlap: "replace" }), withUnfinished(running, waiting), at("09:00"))

    assert.deepEqual(ledger(plan.runs), ["09:00 schedule"])
    assert.deepEqual(
      plan.cancels.map((change) => [change.runId, change.ifState, change.ifAttempt, change.state]),
      [
        [running.id, "running", 2, "cancelled"],
        [waiting.id, "pending", 0, "cancelled"],
      ],
    )
    assert.deepInclude(plan.cancels[0], {
      reason: "Replaced by the next occurrence",
      by: "schedule:report",
      outcome: "cancelled",
    })
  })

  test("no run is cancelled for an occurrence that is skipped", () => {
    const schedule = aSchedule({ overlap: "replace", dependsOn: [{ schedule: "import", within: "1h" }] })

    assert.deepEqual(planFire(schedule, withUnfinished(running), at("09:00")).cancels, [])
  })
})

test("overlap allow makes a run whatever number is unfinished, and only maxConcurrentRuns limits it", () => {
  const facts = withUnfinished(running, waiting)
  const [free] = planFire(aSchedule({ overlap: "allow" }), facts, at("09:00")).runs
  const [limited] = planFire(aSchedule({ overlap: "allow", maxConcurrentRuns: 4 }), facts, at("09:00")).runs

  assert.deepInclude(free, { state: "pending", liveKey: null, concurrencyLimit: null })
  assert.equal(limited?.concurrencyLimit, 4)
})

describe("dependencies", () => {
  const schedule = aSchedule({ dependsOn: [{ schedule: "import", within: "1h" }] })

  test.each([
    ["08:30", "09:00 schedule"],
    ["08:00", "09:00 schedule"],
    ["07:59:59.999", "09:00 skipped dependency"],
  ])(
    "with a dependency within 1 hour and its last success at %s, the record is %s",
    (lastSuccessAt, record) => {
      const facts = { unfinished: [], lastSuccessAt: { import: at(lastSuccessAt) } }

      assert.deepEqual(ledger(planFire(schedule, facts, at("09:00")).runs), [record])
    },
  )

  test.each([undefined, null, Number.NaN, Number.POSITIVE_INFINITY, LATEST + 1])(
    "an occurrence is skipped if the last success of its dependency is %s",
    (lastSuccessAt) => {
      const facts = { unfinished: [], lastSuccessAt: { import: lastSuccessAt as Instant | null } }
      const plan = planFire(schedule, facts, at("09:00"))

      assert.deepEqual(ledger(plan.runs), ["09:00 skipped dependency"])
      assert.equal(plan.runs[0]?.message, "import has not succeeded in the last 1h")
    },
  )

  test("every dependency must have succeeded", () => {
    const both = aSchedule({
      dependsOn: [
        { schedule: "import", within: "1h" },
        { schedule: "clean", within: "1d" },
      ],
    })
    const facts = { unfinished: [], lastSuccessAt: { import: at("08:50"), clean: at("08:50") - DAY } }

    assert.equal(
      planFire(both, facts, at("09:00")).runs[0]?.message,
      "clean has not succeeded in the last 1d",
    )
  })
})

describe("jitter", () => {
  const jittered = aSchedule({ jitter: "20m" })

  test("a run is due some time after its occurrence, and every process computes the same due time", () => {
    const due = jittered.nextRunAt!

    assert.isAbove(due, at("09:00"))
    assert.isAtMost(due, at("09:20"))
    assert.equal(aSchedule({ jitter: "20m" }).nextRunAt, due)
  })

  test("a jittered run never fires early and keeps its nominal time", () => {
    const due = jittered.nextRunAt!

    assert.deepEqual(planFire(jittered, NO_FACTS, due - 1).runs, [])
    const [run] = planFire(jittered, NO_FACTS, due).runs
    assert.deepInclude(run, { scheduledFor: at("09:00"), notBefore: due, triggeredBy: "schedule" })
  })

  test("other occurrences and other schedules get other delays", () => {
    const next = progressAfter(planFire(jittered, NO_FACTS, jittered.nextRunAt!)).nextRunAt!
    const other = planFire({ ...jittered, id: "digest", coveredUntil: null }, NO_FACTS, at("08:00"))

    assert.notEqual(next - HOUR, jittered.nextRunAt)
    assert.notEqual(progressAfter(other).nextRunAt, jittered.nextRunAt)
  })
})

describe("days on which clocks change", () => {
  const daily = { cron: "30 2 * * *", timezone: "America/New_York" } as const

  test("a time that doesn't exist fires once, right after the gap", () => {
    const schedule = aSchedule(daily, { coveredUntil: at("2026-03-08T00:00Z") })

    const { runs } = firedAt(schedule, at("2026-03-08T07:00Z"))

    assert.deepEqual(ledger(runs), ["2026-03-08 07:00 schedule"])
  })

  test("a time that exists twice fires once, the first time", () => {
    const schedule = aSchedule({ ...daily, cron: "30 1 * * *" }, { coveredUntil: at("2026-11-01T00:00Z") })

    const { schedule: after, runs } = firedAt(schedule, at("2026-11-01T05:30Z"), at("2026-11-01T06:30Z"))

    assert.deepEqual(ledger(runs), ["2026-11-01 05:30 schedule"])
    assert.equal(clock(after.nextRunAt), "2026-11-02 06:30")
  })

  test("an hourly schedule fires once in each elapsed hour", () => {
    const schedule = aSchedule(
      { cron: "0 * * * *", timezone: "America/New_York", catchUp: "all", overlap: "allow" },
      { coveredUntil: at("2026-11-01T04:30Z") },
    )

    assert.equal(firedAt(schedule, at("2026-11-01T08:00Z")).runs.length, 4)
  })
})
