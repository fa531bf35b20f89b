import assert from "node:assert/strict"
import { cancel } from "../../core/run/run.ts"
import {
  AN_INSTANT,
  aHeartbeat,
  aLogLine,
  aPruning,
  aRun,
  aSchedule,
  aSkip,
  aWorker,
  DISTINCT_MS,
  pruned,
  SHORT_MS,
} from "./factories.ts"
import { lawCase } from "./law.ts"
import { aPage, countRuns, created, enqueued, idsOf, logOf, runById, several, sorted } from "./steps.ts"

const OLD = { olderThanMs: SHORT_MS, silentForMs: SHORT_MS }

/** Bounded, for pruning: a call deletes a limited number, and the newest runs of each schedule stay. */
export const BOUNDED_PRUNING = [
  lawCase("A call deletes at most `limit` runs, and repeated calls delete all", async (store, lab) => {
    await store.enqueue(several(5, () => aSkip()))
    await lab.pass(3 * SHORT_MS)

    const deleted: number[] = []
    for (let times = 0; times < 4; times++)
      deleted.push((await store.prune(aPruning({ ...OLD, limit: 2 }))).runs)

    assert.deepEqual(deleted, [2, 2, 1, 0])
    assert.equal((await countRuns(store)).skipped, 0)
  }),
  lawCase("A call deletes at most `limit` workers, and repeated calls delete all", async (store, lab) => {
    for (const id of ["a", "b", "c"]) await store.heartbeat(aHeartbeat({ worker: aWorker({ id }) }))
    await lab.pass(3 * SHORT_MS)

    const deleted: number[] = []
    for (let times = 0; times < 3; times++)
      deleted.push((await store.prune(aPruning({ ...OLD, limit: 2 }))).workers)

    assert.deepEqual(deleted, [2, 1, 0])
  }),
  lawCase("The limit applies to runs and to workers separately", async (store, lab) => {
    await store.enqueue(several(3, () => aSkip()))
    for (const id of ["a", "b", "c"]) await store.heartbeat(aHeartbeat({ worker: aWorker({ id }) }))
    await lab.pass(3 * SHORT_MS)

    assert.deepEqual(await store.prune(aPruning({ ...OLD, limit: 2 })), pruned({ runs: 2, workers: 2 }))
  }),
  lawCase("The newest runs are those that were completed last, not created last", async (store, lab) => {
    for (const id of ["created first", "created last"]) {
      await enqueued(store, aRun({ id, scheduleId: "s1" }))
      await lab.pass(DISTINCT_MS)
    }
    for (const id of ["created last", "created first"]) {
      await store.transition([cancel(await runById(store, id), { reason: null, by: null })!])
      await lab.pass(DISTINCT_MS)
    }
    await lab.pass(3 * SHORT_MS)

    await store.prune(aPruning({ ...OLD, keepPerSchedule: 1 }))

    assert.deepEqual(idsOf(await store.findRuns({}, aPage())), ["created first"])
  }),
  lawCase("The newest runs of each schedule stay, however old they are", async (store, lab) => {
    for (const age of ["oldest", "middle", "newest"]) {
      await store.enqueue(["s1", "s2"].map((id) => aSkip({ id: `${id} ${age}`, scheduleId: id })))
      await lab.pass(DISTINCT_MS)
    }
    await lab.pass(3 * SHORT_MS)

    const { runs } = await store.prune(aPruning({ ...OLD, keepPerSchedule: 2 }))

    assert.equal(runs, 2)
    const left = sorted(idsOf(await store.findRuns({}, aPage())))
    assert.deepEqual(left, ["s1 middle", "s1 newest", "s2 middle", "s2 newest"])
  }),
  lawCase("Runs that stay don't count towards the limit", async (store, lab) => {
    await store.enqueue(several(3, (index) => aSkip({ scheduleId: `kept-${index}` })))
    await lab.pass(DISTINCT_MS)
    await store.enqueue(several(2, (index) => aSkip({ id: `loose-${index}` })))
    await lab.pass(3 * SHORT_MS)

    const { runs } = await store.prune(aPruning({ ...OLD, keepPerSchedule: 1, limit: 2 }))

    assert.equal(runs, 2)
    assert.equal((await countRuns(store)).skipped, 3)
  }),
  lawCase("A run of an occurrence after `coveredUntil` is never pruned", async (store, lab) => {
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
  lawCase("Runs without a schedule are pruned by age alone", async (store, lab) => {
    await store.enqueue([aSkip({ id: "loose" }), aSkip({ id: "own", scheduleId: "s1" })])
    await lab.pass(3 * SHORT_MS)

    await store.prune(aPruning({ ...OLD, keepPerSchedule: 5 }))

    assert.deepEqual(idsOf(await store.findRuns({}, aPage())), ["own"])
  }),
  lawCase("A run's log is deleted with the run", async (store, lab) => {
    await store.enqueue([aSkip({ id: "gone" }), aSkip({ id: "kept", scheduleId: "s1" })])
    await store.appendLogs([aLogLine("gone"), aLogLine("kept")])
    await lab.pass(3 * SHORT_MS)

    await store.prune(aPruning({ ...OLD, keepPerSchedule: 1 }))

    assert.deepEqual([await logOf(store, "gone"), (await logOf(store, "kept")).length], [[], 1])
    await enqueued(store, aSkip({ id: "gone" }))
    assert.deepEqual(await logOf(store, "gone"), [])
  }),
]
