import assert from "node:assert/strict"
import { describe, test } from "vitest"
import type { RunChange, RunState } from "../../core/run/run.ts"
import { progressOf } from "../../core/schedule/schedule.ts"
import { anEntry, aPlan, aRun, aSkip, aStoredSchedule } from "../../store/laws/factories.ts"
import type { FireAnswer } from "../../store/store.ts"
import {
  hintsOfEnqueue,
  hintsOfFire,
  hintsOfSwap,
  hintsOfTransition,
  isDueSooner,
} from "./hints-of-writes.ts"

const schedule = aStoredSchedule({ nextRunAt: 1_000 })
const DONE = { outcome: "done" } as const
const STALE = { outcome: "stale", state: null, attempt: 0 } as const

describe("a fire", () => {
  const created = (...ids: string[]): FireAnswer => ({ outcome: "done", created: ids })
  const withRun = aPlan(schedule, { runs: [aRun({ id: "r1" })] })

  test("that creates runs sends a hint about runs", () => {
    assert.deepEqual(hintsOfFire([withRun], [created("r1")], [false]), ["runs"])
  })

  test("that only records skips sends none", () => {
    const withSkip = aPlan(schedule, { runs: [aSkip({ id: "s1" })] })
    assert.deepEqual(hintsOfFire([withSkip], [created("s1")], [false]), [])
  })

  test("whose runs were stored before sends none", () => {
    assert.deepEqual(hintsOfFire([withRun], [created()], [false]), [])
  })

  test("that records a skip beside a run that was stored before sends none", () => {
    const withBoth = aPlan(schedule, { runs: [aRun({ id: "r1" }), aSkip({ id: "s1" })] })
    assert.deepEqual(hintsOfFire([withBoth], [created("s1")], [false]), [])
  })

  test("that makes its schedule due sooner sends a hint about schedules", () => {
    const fire = aPlan(schedule, { runs: [] })
    assert.deepEqual(hintsOfFire([fire], [created()], [true]), ["schedules"])
    assert.deepEqual(hintsOfFire([fire], [created()], [false]), [])
  })

  test("that has a journal entry sends a hint about schedules", () => {
    const steered = aPlan(schedule, { runs: [], entry: anEntry() })
    assert.deepEqual(hintsOfFire([steered], [created()], [false]), ["schedules"])
  })

  test("that is stale, held or refused sends none", () => {
    const step = aPlan(schedule, { runs: [aRun()], entry: anEntry() })
    const answers: FireAnswer[] = [
      { outcome: "stale" },
      { outcome: "held" },
      { outcome: "unstorable", why: "too deep" },
    ]
    assert.deepEqual(hintsOfFire([step, step, step], answers, [true, true, true]), [])
  })

  test("of several plans sends each hint once", () => {
    const plans = [withRun, withRun]
    assert.deepEqual(hintsOfFire(plans, [created("r1"), created("r2")], [true, true]), ["runs", "schedules"])
  })
})

test.each([
  [null, 1_000, false],
  [1_000, null, true],
  [999, 1_000, true],
  [1_000, 1_000, false],
  [1_001, 1_000, false],
  [null, null, false],
])("a next run at %s after one at %s: sooner is %s", (nextRunAt, before, expected) => {
  const plan = aPlan(schedule, { progress: { ...progressOf(schedule), nextRunAt } })
  assert.equal(isDueSooner(plan, before), expected)
})

test("a plan that deletes its schedule doesn't make it due sooner", () => {
  assert.equal(isDueSooner(aPlan(schedule, { progress: null }), 1_000), false)
})

test("an enqueue sends a hint if it created a pending run", () => {
  const answer = (outcome: "created" | "exists" | "held") => [{ outcome, runId: "r1" }]
  assert.deepEqual(hintsOfEnqueue([aRun()], answer("created")), ["runs"])
  assert.deepEqual(hintsOfEnqueue([aRun()], answer("exists")), [])
  assert.deepEqual(hintsOfEnqueue([aRun()], answer("held")), [])
  assert.deepEqual(hintsOfEnqueue([aSkip()], answer("created")), [])
})

describe("a transition", () => {
  const to = (state: RunState) => [{ state } as RunChange]

  test.each([
    ["pending", ["runs"]],
    ["succeeded", ["ended"]],
    ["failed", ["ended"]],
    ["cancelled", ["cancelled", "ended"]],
  ] as const)("to %s sends %s", (state, hints) => {
    assert.deepEqual(hintsOfTransition(to(state), [DONE], false), hints)
    assert.deepEqual(hintsOfTransition(to(state), [STALE], false), [])
  })

  test("that may free runs with the same key sends a hint about runs", () => {
    assert.deepEqual(hintsOfTransition(to("succeeded"), [DONE], true), ["runs", "ended"])
  })
})

test("a swap sends its hint if it is done", () => {
  assert.deepEqual(hintsOfSwap({ outcome: "done", version: 2 }, "documents"), ["documents"])
  assert.deepEqual(hintsOfSwap({ outcome: "stale" }, "schedules"), [])
})
