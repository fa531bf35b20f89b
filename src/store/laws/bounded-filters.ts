import assert from "node:assert/strict"
import { release, succeed } from "../../core/run/run.ts"
import type { RunFilter, ScheduleFilter, Store } from "../store.ts"
import { aClaim, aRun, aSchedule, aSkip, LONG_MS } from "./factories.ts"
import { lawCase } from "./law.ts"
import { aPage, countRuns, created, idsOf, pagedRuns, sorted } from "./steps.ts"

/** Bounded, for filters: a page holds the records that match every part of its filter, and no others. */
export const BOUNDED_FILTERS = [
  lawCase("A schedule must match all parts of the filter, and an empty list matches none", async (store) => {
    await created(store, aSchedule({ id: "a", task: "report", owner: "billing", tags: ["x", "y"] }))
    await created(store, aSchedule({ id: "b", task: "report", owner: "ops", tags: ["y", "long y"] }))
    await created(store, aSchedule({ id: "c", task: "vacuum", owner: null, tags: [] }))

    const expected: readonly [ScheduleFilter, readonly string[]][] = [
      [{}, ["a", "b", "c"]],
      [{ ids: ["c", "a", "unknown"] }, ["a", "c"]],
      [{ ids: [] }, []],
      [{ task: "report" }, ["a", "b"]],
      [{ owner: "ops" }, ["b"]],
      [{ tag: "y" }, ["a", "b"]],
      [{ tag: "long" }, []],
      [{ task: "report", tag: "x", ids: ["a", "b"] }, ["a"]],
      [{ owner: "billing", task: "vacuum" }, []],
    ]
    for (const [filter, ids] of expected) {
      const found = await store.findSchedules(filter, { orderBy: "id", after: null, limit: 10 })
      assert.deepEqual(idsOf(found), ids, JSON.stringify(filter))
    }
  }),
  lawCase("A run must match all parts of the filter, and an empty list matches none", async (store) => {
    await enqueueVaried(store)

    const expected: readonly [RunFilter, readonly string[]][] = [
      [{}, ["a", "a/1", "a/2", "b", "c", "d"]],
      [{ ids: ["d", "a", "unknown"] }, ["a", "d"]],
      [{ ids: [] }, []],
      [{ scheduleId: "s1" }, ["a", "b"]],
      [{ task: "vacuum" }, ["a/2", "c"]],
      [{ states: ["skipped"] }, ["d"]],
      [{ states: ["pending", "skipped"], task: "report" }, ["a", "b", "d"]],
      [{ states: [] }, []],
      [{ triggeredBy: ["manual", "backfill"] }, ["b", "c"]],
      [{ triggeredBy: [] }, []],
      [{ concurrencyKey: "k" }, ["b", "c"]],
      [{ concurrencyKey: "k", scheduleId: "s1", triggeredBy: ["manual"] }, ["b"]],
      [{ scheduleId: "s1", states: ["running"] }, []],
      [{ idPrefix: "a" }, ["a", "a/1", "a/2"]],
      [{ idPrefix: "a/" }, ["a/1", "a/2"]],
      [{ idPrefix: "a/", task: "vacuum" }, ["a/2"]],
      [{ idPrefix: "A" }, []],
      [{ idPrefix: "/" }, []],
      [{ parentId: "a" }, ["a/1", "a/2"]],
      [{ parentId: "a", states: ["running"] }, ["a/1"]],
      [{ parentId: "b" }, []],
      [{ workerId: "w1" }, ["a/1"]],
      [{ workerId: "w1", task: "vacuum" }, []],
      [{ workerId: "w2" }, []],
    ]
    for (const [filter, ids] of expected) {
      const text = JSON.stringify(filter)
      assert.deepEqual(sorted(idsOf(await store.findRuns(filter, aPage()))), ids, text)
      const counts = await countRuns(store, filter)
      assert.equal(
        Object.values(counts).reduce((sum, count) => sum + count, 0),
        ids.length,
        `count of ${text}`,
      )
      const paged = await pagedRuns(store, filter, { limit: 1 })
      assert.deepEqual(sorted(idsOf(paged)), ids, `pages of ${text}`)
    }
  }),
  lawCase("A filter by worker matches the runs that it holds, not the runs that it held", async (store) => {
    await store.enqueue([aRun({ id: "a" }), aRun({ id: "b" }), aRun({ id: "c" })])
    const { runs } = await store.claim(aClaim({ workerId: "w1" }))
    const [done, given] = [runs.find(({ id }) => id === "a")!, runs.find(({ id }) => id === "b")!]
    const heldBy = async (workerId: string) => sorted(idsOf(await store.findRuns({ workerId }, aPage())))
    assert.deepEqual(await heldBy("w1"), ["a", "b", "c"])

    await store.transition([succeed(done, { message: null, details: null }), release(given, "stopping")])
    await store.claim(aClaim({ workerId: "w2" }))

    assert.deepEqual(await heldBy("w1"), ["c"])
    assert.deepEqual(await heldBy("w2"), ["b"])
  }),
  lawCase("A filter compares exactly, including case, accents and trailing spaces", async (store) => {
    const names = ["name", "Name", "náme", "name "]
    for (const [index, name] of names.entries()) {
      await created(store, aSchedule({ id: `s${index}`, task: name, owner: name, tags: [name] }))
    }
    await store.enqueue(
      names.map((name, index) =>
        aRun({ id: `r${index}`, task: name, scheduleId: name, concurrencyKey: name, parentId: name }),
      ),
    )

    for (const [index, name] of names.entries()) {
      for (const filter of [{ task: name }, { owner: name }, { tag: name }]) {
        const found = await store.findSchedules(filter, { orderBy: "id", after: null, limit: 10 })
        assert.deepEqual(idsOf(found), [`s${index}`], JSON.stringify(filter))
      }
      for (const filter of runFilters(name)) {
        const found = await store.findRuns(filter, aPage())
        assert.deepEqual(idsOf(found), [`r${index}`], JSON.stringify(filter))
        assert.equal((await countRuns(store, filter)).pending, 1, `count of ${JSON.stringify(filter)}`)
      }
    }
  }),
]

function runFilters(name: string): readonly RunFilter[] {
  return [{ task: name }, { scheduleId: name }, { concurrencyKey: name }, { parentId: name }]
}

async function enqueueVaried(store: Store): Promise<void> {
  await store.enqueue([
    aRun({ id: "a", scheduleId: "s1", triggeredBy: "schedule" }),
    aRun({ id: "b", scheduleId: "s1", triggeredBy: "manual", concurrencyKey: "k" }),
    aRun({ id: "c", scheduleId: "s2", triggeredBy: "backfill", concurrencyKey: "k", task: "vacuum" }),
    aSkip({ id: "d", scheduleId: null, triggeredBy: "api" }),
    aRun({ id: "a/1", parentId: "a", task: "step" }),
    aRun({ id: "a/2", parentId: "a", task: "vacuum" }),
  ])
  await store.claim(aClaim({ workerId: "w1", tasks: [{ name: "step", leaseMs: LONG_MS }] }))
}
