import assert from "node:assert/strict"
import { beforeEach, test } from "vitest"
import { succeed } from "../../src/core/run/run.ts"
import { readFacts } from "../../src/engine/facts.ts"
import { aPruning, aRunOf, aSchedule, aStoredSchedule } from "../../src/store/laws/factories.ts"
import { created, runById, running } from "../../src/store/laws/steps.ts"
import type { Store } from "../../src/store/store.ts"
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts"
import { createVirtualClock, type VirtualClock } from "../../src/testing/virtual-clock.ts"

const START = Date.UTC(2026, 0, 1)
const dependent = aStoredSchedule({ dependsOn: [{ scheduleId: "first", withinMs: 1_000 }] })
let clock: VirtualClock
let store: Store

beforeEach(() => {
  clock = createVirtualClock(START)
  store = createMemoryStore(clock)
})

async function succeedOnce() {
  const run = await running(store, aRunOf("first"))
  await store.transition([succeed(run, { message: null, details: null })])
  return (await runById(store, run.id)).completedAt
}

test("the last success of a dependency is known after its run was pruned", async () => {
  await created(store, aSchedule({ id: "first", coveredUntil: START }))
  const succeededAt = await succeedOnce()
  clock.timeline.jumpTo(START + 1)
  assert.equal((await store.prune(aPruning({ olderThanMs: 0 }))).runs, 1)

  assert.deepEqual((await readFacts(store, dependent)).lastSuccessAt, { first: succeededAt })
})

test("the last success of a local schedule, which isn't stored, is read from its runs", async () => {
  const succeededAt = await succeedOnce()
  assert.deepEqual((await readFacts(store, dependent)).lastSuccessAt, { first: succeededAt })
})

test("the schedules of all dependencies are read by one call", async () => {
  const ids = ["a", "b", "c"]
  for (const id of ids) await created(store, aSchedule({ id }))
  let calls = 0
  const counting: Store = {
    ...store,
    findSchedules(filter, page) {
      calls++
      return store.findSchedules(filter, page)
    },
  }
  const dependsOn = ids.map((scheduleId) => ({ scheduleId, withinMs: 1_000 }))

  const { lastSuccessAt } = await readFacts(counting, aStoredSchedule({ dependsOn }))

  assert.deepEqual([lastSuccessAt, calls], [{ a: null, b: null, c: null }, 1])
})

test("a dependency without a success has none", async () => {
  await created(store, aSchedule({ id: "first" }))
  assert.deepEqual((await readFacts(store, dependent)).lastSuccessAt, { first: null })
})
