import assert from "node:assert/strict"
import { NO_RUNS } from "../../core/schedule.ts"
import type { Store } from "../store.ts"
import { aPlan, aRun, aRunOf, aSchedule, aSkip } from "./factories.ts"
import { lawCase } from "./law.ts"
import { created, deleteSchedule, scheduleById, several, together, withPeers } from "./steps.ts"

/** Whole, of counts: a run that is created is counted with its schedule in the same step, whichever way it comes. */
export const WHOLE_COUNTS = [
  lawCase("A schedule counts its runs, fired and enqueued", async (store) => {
    const schedule = await created(store, aSchedule({ id: "s1" }))
    const [first, second, third] = several(3, () => aRunOf("s1"))

    await store.fire([aPlan(schedule, { runs: [first!, aSkip({ scheduleId: "s1" })] })])
    assert.deepEqual(await countOf(store), [1, first!.id])
    await store.enqueue([second!, third!, aSkip({ scheduleId: "s1" })])
    assert.deepEqual(await countOf(store), [3, third!.id])
  }),
  lawCase("It tells when its last run was created, by the store's clock", async (store) => {
    await created(store, aSchedule({ id: "s1" }))
    const before = await store.now()
    await store.enqueue([aRunOf("s1")])
    const { lastRunAt } = await scheduleById(store, "s1")

    assert.ok(lastRunAt! >= before && lastRunAt! <= (await store.now()))
  }),
  lawCase("What isn't created isn't counted", async (store) => {
    const schedule = await created(store, aSchedule({ id: "s1" }))
    const run = aRunOf("s1", { liveKey: "one at a time" })
    const other = { ...aRunOf("s1"), liveKey: "one at a time" }
    await store.enqueue([run])

    await store.enqueue([run, other])
    await store.fire([aPlan(schedule, { runs: [other] })])
    await store.fire([aPlan(schedule, { runs: [run] })])

    assert.deepEqual(await countOf(store), [1, run.id])
  }),
  lawCase(
    "Of a plan's runs those that it creates are counted, and the last of these is the last",
    async (store) => {
      const schedule = await created(store, aSchedule({ id: "s1" }))
      const [first, second, third] = several(3, () => aRunOf("s1"))
      await store.enqueue([third!])

      await store.fire([aPlan(schedule, { runs: [first!, second!, aSkip({ scheduleId: "s1" }), third!] })])

      assert.deepEqual(await countOf(store), [3, second!.id])
    },
  ),
  lawCase("To count changes nothing that a plan or an edit rests on", async (store) => {
    const schedule = await created(store, aSchedule({ id: "s1" }))
    await store.enqueue([aRunOf("s1")])

    assert.deepEqual({ ...(await scheduleById(store, "s1")), ...NO_RUNS }, schedule)
  }),
  lawCase("An edit leaves the count as it is", async (store) => {
    const schedule = await created(store, aSchedule({ id: "s1" }))
    const run = aRunOf("s1")
    await store.enqueue([run])

    await store.putSchedule({ ...schedule, description: "edited" }, schedule.version)

    assert.deepEqual(await countOf(store), [1, run.id])
  }),
  lawCase("A new schedule begins at nought, whatever was there before it", async (store) => {
    const schedule = await created(store, aSchedule({ id: "s1" }))
    await store.enqueue([aRunOf("s1")])
    await deleteSchedule(store, schedule)

    await created(store, aSchedule({ id: "s1", runCount: 7, lastRunId: "r" }))

    assert.deepEqual(await countOf(store), [0, null])
  }),
  lawCase("Runs of a schedule that is gone, and of none, bring none back", async (store) => {
    await store.enqueue([aRunOf("gone"), aRun()])

    assert.deepEqual(await store.findSchedules({}, { orderBy: "id", after: null, limit: 10 }), [])
  }),
  lawCase("Runs that are created at once are all counted", async (store, lab) => {
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
