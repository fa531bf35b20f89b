import assert from "node:assert/strict"
import { cancel } from "../../core/run.ts"
import {
  AN_INSTANT,
  aHeartbeat,
  aLogLine,
  aPruning,
  aRun,
  aSchedule,
  aSkip,
  aWorker,
  MOMENT_MS,
  pruned,
  SHORT_MS,
} from "./factories.ts"
import { lawCase } from "./law.ts"
import { aPage, countRuns, created, enqueued, idsOf, logOf, runById, several, sorted } from "./steps.ts"

const OLD = { olderThanMs: SHORT_MS, silentForMs: SHORT_MS }

/** Bounded, of pruning: a bounded number at a time, and the newest of each schedule stay. */
export const BOUNDED_PRUNING = [
  lawCase("No more runs are deleted at a time than asked for, and in the end all are", async (store, lab) => {
    await store.enqueue(several(5, () => aSkip()))
    await lab.pass(3 * SHORT_MS)

    const deleted: number[] = []
    for (let times = 0; times < 4; times++)
      deleted.push((await store.prune(aPruning({ ...OLD, limit: 2 }))).runs)

    assert.deepEqual(deleted, [2, 2, 1, 0])
    assert.equal((await countRuns(store)).skipped, 0)
  }),
  lawCase(
    "No more workers are deleted at a time than asked for, and in the end all are",
    async (store, lab) => {
      for (const id of ["a", "b", "c"]) await store.heartbeat(aHeartbeat({ worker: aWorker({ id }) }))
      await lab.pass(3 * SHORT_MS)

      const deleted: number[] = []
      for (let times = 0; times < 3; times++)
        deleted.push((await store.prune(aPruning({ ...OLD, limit: 2 }))).workers)

      assert.deepEqual(deleted, [2, 1, 0])
    },
  ),
  lawCase("The limit is for runs and for workers each", async (store, lab) => {
    await store.enqueue(several(3, () => aSkip()))
    for (const id of ["a", "b", "c"]) await store.heartbeat(aHeartbeat({ worker: aWorker({ id }) }))
    await lab.pass(3 * SHORT_MS)

    assert.deepEqual(await store.prune(aPruning({ ...OLD, limit: 2 })), pruned({ runs: 2, workers: 2 }))
  }),
  lawCase("The newest are those that were completed last, whenever they were created", async (store, lab) => {
    for (const id of ["created first", "created last"]) {
      await enqueued(store, aRun({ id, scheduleId: "s1" }))
      await lab.pass(MOMENT_MS)
    }
    for (const id of ["created last", "created first"]) {
      await store.transition([cancel(await runById(store, id), { reason: null, by: null })!])
      await lab.pass(MOMENT_MS)
    }
    await lab.pass(3 * SHORT_MS)

    await store.prune(aPruning({ ...OLD, keepPerSchedule: 1 }))

    assert.deepEqual(idsOf(await store.findRuns({}, aPage())), ["created first"])
  }),
  lawCase("The newest of each schedule stay whatever their age", async (store, lab) => {
    for (const age of ["oldest", "middle", "newest"]) {
      await store.enqueue(["s1", "s2"].map((id) => aSkip({ id: `${id} ${age}`, scheduleId: id })))
      await lab.pass(MOMENT_MS)
    }
    await lab.pass(3 * SHORT_MS)

    const { runs } = await store.prune(aPruning({ ...OLD, keepPerSchedule: 2 }))

    assert.equal(runs, 2)
    const left = sorted(idsOf(await store.findRuns({}, aPage())))
    assert.deepEqual(left, ["s1 middle", "s1 newest", "s2 middle", "s2 newest"])
  }),
  lawCase("Those that stay don't use up the limit", async (store, lab) => {
    await store.enqueue(several(3, (index) => aSkip({ scheduleId: `kept-${index}` })))
    await lab.pass(MOMENT_MS)
    await store.enqueue(several(2, (index) => aSkip({ id: `loose-${index}` })))
    await lab.pass(3 * SHORT_MS)

    const { runs } = await store.prune(aPruning({ ...OLD, keepPerSchedule: 1, limit: 2 }))

    assert.equal(runs, 2)
    assert.equal((await countRuns(store)).skipped, 3)
  }),
  lawCase("What its schedule hasn't settled yet stays, or it would be fired again", async (store, lab) => {
    await created(store, aSchedule({ id: "s1", coveredUntil: AN_INSTANT }))
    await store.enqueue([
      aSkip({ id: "settled", scheduleId: "s1", scheduledFor: AN_INSTANT }),
      aSkip({ id: "owed", scheduleId: "s1", scheduledFor: AN_INSTANT + 1 }),
      aSkip({ id: "of a schedule that is gone", scheduleId: "s2", scheduledFor: AN_INSTANT + 1 }),
    ])
    await lab.pass(3 * SHORT_MS)

    await store.prune(aPruning(OLD))

    assert.deepEqual(idsOf(await store.findRuns({}, aPage())), ["owed"])
  }),
  lawCase("Runs of no schedule go by their age alone", async (store, lab) => {
    await store.enqueue([aSkip({ id: "loose" }), aSkip({ id: "own", scheduleId: "s1" })])
    await lab.pass(3 * SHORT_MS)

    await store.prune(aPruning({ ...OLD, keepPerSchedule: 5 }))

    assert.deepEqual(idsOf(await store.findRuns({}, aPage())), ["own"])
  }),
  lawCase("A run's log goes with it", async (store, lab) => {
    await store.enqueue([aSkip({ id: "gone" }), aSkip({ id: "kept", scheduleId: "s1" })])
    await store.appendLogs([aLogLine("gone"), aLogLine("kept")])
    await lab.pass(3 * SHORT_MS)

    await store.prune(aPruning({ ...OLD, keepPerSchedule: 1 }))

    assert.deepEqual([await logOf(store, "gone"), (await logOf(store, "kept")).length], [[], 1])
    await enqueued(store, aSkip({ id: "gone" }))
    assert.deepEqual(await logOf(store, "gone"), [])
  }),
]
