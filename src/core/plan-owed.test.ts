import { assert, describe, test } from "vitest"
import { aRunRef, aSchedule, at, ledger, progressAfter, withUnfinished } from "../../test/support/records.ts"
import { planFire } from "./fire.ts"
import { SECOND } from "./instant.ts"
import { type FireFacts, NO_FACTS } from "./plan.ts"
import { resume } from "./steer.ts"

const running = aRunRef({ id: "report@2026-03-10T08:00:00Z" })
const waiting = aRunRef({ id: "report@2026-03-10T08:30:00Z", state: "pending", attempt: 0 })
const FULL = withUnfinished(running, waiting)
const queue = { policy: "queue", limit: 1 } as const

describe("a queue that is full", () => {
  test("of one that catches up once: the late occurrence is recorded, and doesn't stay owed", () => {
    const plan = planFire(aSchedule({ overlap: queue, catchUp: "once" }), FULL, at("11:30"))

    assert.deepEqual(ledger(plan.runs), ["09:00-10:00 (2) skipped coalesced", "11:00 skipped capacity"])
    assert.deepInclude(plan.progress, { coveredUntil: at("11:00"), nextRunAt: at("12:00") })
  })

  test("of one that catches up on all: what was left out before the one that waits is recorded, later ones aren't", () => {
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

  test("the first occurrence of all can stay owed, too", () => {
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

describe("an occurrence whose own run is there, unfinished, because it was fired from memory", () => {
  const own = withUnfinished(running, aRunRef({ id: "report@2026-03-10T09:00:00Z" }))

  test.each([["skip"], [queue]] as const)("counts as run by the overlap %j", (overlap) => {
    const plan = planFire(aSchedule({ overlap, maxRuns: 1 }), own, at("09:00") + 20 * SECOND)

    assert.deepEqual(ledger(plan.runs), ["09:00 schedule"])
    assert.equal(progressAfter(plan).firedCount, 1)
  })
})

test("what came after a pause with an end, and finds its queue full, stays owed", () => {
  const paused = { at: at("08:10"), until: at("08:50"), reason: null, by: null }
  const schedule = aSchedule({ overlap: queue, catchUp: "all" }, { paused })

  const plan = planFire(schedule, FULL, at("11:30"))

  assert.deepEqual(plan.runs, [])
  assert.deepInclude(plan.progress, { paused: null, nextRunAt: at("11:30") + SECOND })
})

test("an occurrence that an unfinished run keeps from running names that run, also one of the same plan", () => {
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

describe("runs that give way", () => {
  test.each(["queue", "allow"] as const)("are none under overlap %s", (policy) => {
    const plan = planFire(aSchedule({ overlap: policy }), withUnfinished(running), at("09:00"))

    assert.deepEqual(ledger(plan.runs), ["09:00 schedule"])
    assert.deepEqual(plan.cancels, [])
  })

  test("under overlap replace are those that are still unfinished", () => {
    const done = aRunRef({ id: "done", state: "succeeded" })

    const plan = planFire(aSchedule({ overlap: "replace" }), withUnfinished(done, running), at("09:00"))

    assert.deepEqual(
      plan.cancels.map(({ runId }) => runId),
      [running.id],
    )
  })
})

describe("catching up", () => {
  test("on one: the run is told what it stands for, and the rest is folded into it", () => {
    const plan = planFire(aSchedule({ catchUp: "once" }), withUnfinished(), at("11:30"))

    assert.deepEqual(
      plan.runs.map(({ missed, message }) => [missed, message]),
      [
        [{ from: at("09:00"), until: at("10:00"), count: 2 }, "Folded into a newer occurrence"],
        [{ from: at("09:00"), until: at("10:00"), count: 2 }, null],
      ],
    )
  })

  test.each(["none", "all"] as const)("on %s: a run stands for itself, and the rest is missed", (policy) => {
    const catchUp = policy === "all" ? ({ policy, window: "1h" } as const) : policy
    const schedule = aSchedule({ catchUp, overlap: "allow" })

    const plan = planFire(schedule, withUnfinished(), at("11:00:10"))

    assert.deepEqual(ledger(plan.runs).at(-1), "11:00 schedule")
    const [rest] = plan.runs
    assert.deepInclude(rest, { reason: "missed", message: "No process fired it in time" })
    assert.isNull(plan.runs.at(-1)!.missed)
    assert.equal(progressAfter(plan).coveredUntil, at("11:00"))
  })
})

describe("runs that were fired from memory", () => {
  const recorded = (...times: readonly string[]) => ({
    ...withUnfinished(),
    recorded: times.map((time) => ({ from: at(time), until: at(time), isRun: true })),
  })

  test("count among those that a schedule may have", () => {
    const schedule = aSchedule({ maxRuns: 4, catchUp: "all", overlap: "allow" })

    const plan = planFire(schedule, recorded("09:00", "10:00"), at("13:30"))

    assert.deepEqual(ledger(plan.runs), ["11:00 catchup", "12:00 catchup"])
    assert.deepInclude(plan.progress, { firedCount: 4, nextRunAt: null, finishedAt: at("13:30") })
  })

  test("that were the last leave nothing to run; what came before them is recorded", () => {
    const schedule = aSchedule({ maxRuns: 2, catchUp: "all", overlap: "allow" })

    const plan = planFire(schedule, recorded("10:00", "11:00"), at("13:30"))

    assert.deepEqual(ledger(plan.runs), ["09:00 skipped missed"])
    assert.equal(plan.runs[0]?.message, "A later occurrence was the last of its 2 runs")
    assert.deepInclude(plan.progress, { firedCount: 2, nextRunAt: null })
  })

  test("that wait behind one that stays owed are counted when it is settled", () => {
    const schedule = aSchedule({ overlap: queue, catchUp: "all", maxRuns: 9 })

    const plan = planFire(schedule, { ...recorded("09:00", "11:00"), ...FULL }, at("11:30"))

    assert.deepInclude(plan.progress, { coveredUntil: at("09:00"), firedCount: 1 })
  })

  test("in a pause count when it ends, and records of what didn't run don't", () => {
    const paused = { at: at("08:30"), until: null, reason: null, by: null }
    const schedule = aSchedule({ maxRuns: 9 }, { paused })
    const facts = recorded("09:00", "10:00")
    const skips = facts.recorded.map((each) => ({ ...each, isRun: false }))

    assert.equal(resume(schedule, facts, at("12:30"))?.progress?.firedCount, 2)
    assert.equal(resume(schedule, { ...facts, recorded: skips }, at("12:30"))?.progress?.firedCount, 0)
  })
})
