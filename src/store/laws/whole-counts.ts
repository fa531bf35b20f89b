import assert from "node:assert/strict"
import { NO_RUNS } from "../../core/schedule/schedule.ts"
import type { Store } from "../store.ts"
import { aPlan, aRun, aRunOf, aSchedule, aSkip } from "./factories.ts"
import { lawCase } from "./law.ts"
import { created, deleteSchedule, putAgain, scheduleById, several, together, withPeers } from "./steps.ts"

/** Whole, for counts: the step that creates a run, `fire` or `enqueue`, counts the run on its schedule. */
export const WHOLE_COUNTS = [
  lawCase("A schedule counts its fired and its enqueued runs", async (store) => {
    const schedule = await created(store, aSchedule({ id: "s1" }))
    const [first, second, third] = several(3, () => aRunOf("s1"))

    await store.fire([aPlan(schedule, { runs: [first!, aSkip({ scheduleId: "s1" })] })])
    assert.deepEqual(await countOf(store), [1, first!.id])
    await store.enqueue([second!, third!, aSkip({ scheduleId: "s1" })])
    assert.deepEqual(await countOf(store), [3, third!.id])
  }),
  lawCase("A schedule records when its last run was created, by the store's clock", async (store) => {
    await created(store, aSchedule({ id: "s1" }))
    const before = await store.now()
    await store.enqueue([aRunOf("s1")])
    const { lastRunAt } = await scheduleById(store, "s1")

    assert.ok(lastRunAt! >= before && lastRunAt! <= (await store.now()))
  }),
  lawCase("A run that isn't created isn't counted", async (store) => {
    const schedule = await created(store, aSchedule({ id: "s1" }))
    const run = aRunOf("s1", { liveKey: "one at a time" })
    const other = { ...aRunOf("s1"), liveKey: "one at a time" }
    await store.enqueue([run])

    await store.enqueue([run, other])
    await store.fire([aPlan(schedule, { runs: [other] })])
    await store.fire([aPlan(schedule, { runs: [run] })])

    assert.deepEqual(await countOf(store), [1, run.id])
  }),
  lawCase("Only runs that a plan creates are counted, and can be the last run", async (store) => {
    const schedule = await created(store, aSchedule({ id: "s1" }))
    const [first, second, third] = several(3, () => aRunOf("s1"))
    await store.enqueue([third!])

    await store.fire([aPlan(schedule, { runs: [first!, second!, aSkip({ scheduleId: "s1" }), third!] })])

    assert.deepEqual(await countOf(store), [3, second!.id])
  }),
  lawCase("Counting a run doesn't change the schedule's version", async (store) => {
    const schedule = await created(store, aSchedule({ id: "s1" }))
    await store.enqueue([aRunOf("s1")])

    assert.deepEqual({ ...(await scheduleById(store, "s1")), ...NO_RUNS }, schedule)
  }),
  lawCase("An edit doesn't change the count", async (store) => {
    const schedule = await created(store, aSchedule({ id: "s1" }))
    const run = aRunOf("s1")
    await store.enqueue([run])

    await putAgain(store, schedule, { description: "edited" })

    assert.deepEqual(await countOf(store), [1, run.id])
  }),
  lawCase("A schedule that is deleted and created again counts from 0", async (store) => {
    const schedule = await created(store, aSchedule({ id: "s1" }))
    await store.enqueue([aRunOf("s1")])
    await deleteSchedule(store, schedule)

    await created(store, aSchedule({ id: "s1" }))

    assert.deepEqual(await countOf(store), [0, null])
  }),
  lawCase("Runs of a deleted schedule, and runs without a schedule, create no schedule", async (store) => {
    await store.enqueue([aRunOf("gone"), aRun()])

    assert.deepEqual(await store.findSchedules({}, { orderBy: "id", after: null, limit: 10 }), [])
  }),
  lawCase("Runs that several callers create at once are all counted", async (store, lab) => {
    await created(store, aSchedule({ id: "s1" }))
    const peers = await withPeers(store, lab)

    await together(peers, 6, (peer) => peer.enqueue(several(5, () => aRunOf("s1"))))

    assert.equal((await scheduleById(store, "s1")).runCount, 30)
  }),
]

async function countOf(store: Store): Promise<readonly [number, string | null]> {
  const { runCount, lastRunId } = await scheduleById(store, "s1")
  return [runCount, lastRunId]
}
