import { assert, describe, test } from "vitest"
import {
  aRunRef,
  aSchedule,
  at,
  ledger,
  progressAfter,
  withUnfinished,
} from "../../../test/support/records.ts"
import { SECOND } from "../time/instant.ts"
import { planFire } from "./fire.ts"
import { type FireFacts, NO_FACTS } from "./plan.ts"
import { resume } from "./steer.ts"

const running = aRunRef({ id: "report@2026-03-10T08:00:00Z" })
const waiting = aRunRef({ id: "report@2026-03-10T08:30:00Z", state: "pending", attempt: 0 })
const FULL = withUnfinished(running, waiting)
const queue = { policy: "queue", limit: 1 } as const

describe("a full queue", () => {
  test("with catch-up once, a late occurrence is recorded as skipped and doesn't stay owed", () => {
    const plan = planFire(aSchedule({ overlap: queue, catchUp: "once" }), FULL, at("11:30"))

    assert.deepEqual(ledger(plan.runs), ["09:00-10:00 (2) skipped coalesced", "11:00 skipped capacity"])
    assert.deepInclude(plan.progress, { coveredUntil: at("11:00"), nextRunAt: at("12:00") })
  })

  test("with catch-up all, occurrences skipped by an operator are recorded only up to the first owed one", () => {
    const overrides = ["09:00", "11:00"].map((time) => ({
      scheduledFor: at(time),
      dueAt: null,
      reason: "holiday",
      by: null,
    }))
    const schedule = aSchedule({ overlap: queue, catchUp: "all" }, { overrides })

    const plan = planFire(schedule, FULL, at("11:30"))

    assert.deepEqual(ledger(plan.runs), ["09:00 skipped operator"])
    assert.deepInclude(plan.progress, { coveredUntil: at("09:00"), nextRunAt: at("11:30") + SECOND })
  })

  test("with catch-up all, the first occurrence of a schedule can stay owed too", () => {
    const schedule = aSchedule({ at: at("09:00"), overlap: queue, catchUp: "all" })

    const { progress, runs } = planFire(schedule, FULL, at("11:30"))

    assert.deepEqual(runs, [])
    assert.deepInclude(progress, {
      coveredUntil: schedule.coveredUntil,
      nextRunAt: at("11:30") + SECOND,
      lastError: null,
      finishedAt: null,
    })
  })
})

describe("an occurrence that was fired from memory and whose run is unfinished", () => {
  const own = withUnfinished(running, aRunRef({ id: "report@2026-03-10T09:00:00Z" }))

  test.each([["skip"], [queue]] as const)(
    "with overlap %j, the occurrence isn't skipped because of its own run",
    (overlap) => {
      const plan = planFire(aSchedule({ overlap, maxRuns: 1 }), own, at("09:00") + 20 * SECOND)

      assert.deepEqual(ledger(plan.runs), ["09:00 schedule"])
      assert.equal(progressAfter(plan).firedCount, 1)
    },
  )
})

test("occurrences after the end of a pause stay owed if the queue is full", () => {
  const paused = { at: at("08:10"), until: at("08:50"), reason: null, by: null }
  const schedule = aSchedule({ overlap: queue, catchUp: "all" }, { paused })

  const plan = planFire(schedule, FULL, at("11:30"))

  assert.deepEqual(plan.runs, [])
  assert.deepInclude(plan.progress, { paused: null, nextRunAt: at("11:30") + SECOND })
})

test("an occurrence skipped by overlap names the unfinished run, also a run of the same plan", () => {
  // Only SQL can write "all" together with "skip".
  const schedule = {
    ...aSchedule({ catchUp: "all", overlap: "allow" }),
    overlap: { policy: "skip", limit: 1 },
  } as const

  const messagesOf = (facts: FireFacts) =>
    planFire(schedule, facts, at("10:30"))
      .runs.filter(({ state }) => state === "skipped")
      .map(({ message }) => message)

  assert.deepEqual(messagesOf(NO_FACTS), ["Still unfinished: report@2026-03-10T09:00:00Z"])
  assert.deepEqual(messagesOf(withUnfinished(running, waiting)), [
    "Still unfinished: report@2026-03-10T08:00:00Z",
    "Still unfinished: report@2026-03-10T08:00:00Z",
  ])
})

describe("runs that a plan cancels", () => {
  test.each(["queue", "allow"] as const)("with overlap %s a plan cancels no run", (policy) => {
    const plan = planFire(aSchedule({ overlap: policy }), withUnfinished(running), at("09:00"))

    assert.deepEqual(ledger(plan.runs), ["09:00 schedule"])
    assert.deepEqual(plan.cancels, [])
  })

  test("with overlap replace a plan cancels the runs that are still unfinished", () => {
    const done = aRunRef({ id: "done", state: "succeeded" })

    const plan = planFire(aSchedule({ overlap: "replace" }), withUnfinished(done, running), at("09:00"))

    assert.deepEqual(
      plan.cancels.map(({ runId }) => runId),
      [running.id],
    )
  })
})

describe("catch-up", () => {
  test("with catch-up once the run stands for the missed range, and the range is coalesced", () => {
    const plan = planFire(aSchedule({ catchUp: "once" }), withUnfinished(), at("11:30"))

    assert.deepEqual(
      plan.runs.map(({ missed, message }) => [missed, message]),
      [
        [{ from: at("09:00"), until: at("10:00"), count: 2 }, "Folded into a newer occurrence"],
        [{ from: at("09:00"), until: at("10:00"), count: 2 }, null],
      ],
    )
  })

  test.each(["none", "all"] as const)(
    "with catch-up %s a run stands only for itself, and older occurrences are recorded as missed",
    (policy) => {
      const catchUp = policy === "all" ? ({ policy, window: "1h" } as const) : policy
      const schedule = aSchedule({ catchUp, overlap: "allow" })

      const plan = planFire(schedule, withUnfinished(), at("11:00:10"))

      assert.deepEqual(ledger(plan.runs).at(-1), "11:00 schedule")
      const [rest] = plan.runs
      assert.deepInclude(rest, { reason: "missed", message: "No process fired it in time" })
      assert.isNull(plan.runs.at(-1)!.missed)
      assert.equal(progressAfter(plan).coveredUntil, at("11:00"))
    },
  )
})

describe("runs that were fired from memory", () => {
  const recorded = (...times: readonly string[]) => ({
    ...withUnfinished(),
    recorded: times.map((time) => ({ from: at(time), until: at(time), isRun: true })),
  })

  test("runs fired from memory count towards maxRuns", () => {
    const schedule = aSchedule({ maxRuns: 4, catchUp: "all", overlap: "allow" })

    const plan = planFire(schedule, recorded("09:00", "10:00"), at("13:30"))

    assert.deepEqual(ledger(plan.runs), ["11:00 catchup", "12:00 catchup"])
    assert.deepInclude(plan.progress, { firedCount: 4, nextRunAt: null, finishedAt: at("13:30") })
  })

  test("if runs fired from memory reach maxRuns, no run is made and earlier occurrences are recorded as missed", () => {
    const schedule = aSchedule({ maxRuns: 2, catchUp: "all", overlap: "allow" })

    const plan = planFire(schedule, recorded("10:00", "11:00"), at("13:30"))

    assert.deepEqual(ledger(plan.runs), ["09:00 skipped missed"])
    assert.equal(plan.runs[0]?.message, "A later occurrence was the last of its 2 runs")
    assert.deepInclude(plan.progress, { firedCount: 2, nextRunAt: null })
  })

  test("a run fired from memory after an owed occurrence is counted when that occurrence is settled", () => {
    const schedule = aSchedule({ overlap: queue, catchUp: "all", maxRuns: 9 })

    const plan = planFire(schedule, { ...recorded("09:00", "11:00"), ...FULL }, at("11:30"))

    assert.deepInclude(plan.progress, { coveredUntil: at("09:00"), firedCount: 1 })
  })

  test("runs fired from memory in a pause are counted when the pause ends, and skip records aren't", () => {
    const paused = { at: at("08:30"), until: null, reason: null, by: null }
    const schedule = aSchedule({ maxRuns: 9 }, { paused })
    const facts = recorded("09:00", "10:00")
    const skips = facts.recorded.map((each) => ({ ...each, isRun: false }))

    assert.equal(resume(schedule, facts, at("12:30"))?.progress?.firedCount, 2)
    assert.equal(resume(schedule, { ...facts, recorded: skips }, at("12:30"))?.progress?.firedCount, 0)
  })
})
