import assert from "node:assert/strict"
import { cancel, release, retry, succeed } from "../../core/run/run.ts"
import type { Store } from "../store.ts"
import { aClaim, aHeartbeat, aRun, aWorker, heldRun, SHORT_MS } from "./factories.ts"
import { lawCase } from "./law.ts"
import { abandoned, allWorkers, claimed, idsOf, runById, running } from "./steps.ts"

const NOTHING = { message: null, details: null }
const NOBODY = { reason: null, by: null }
const HALF = { fraction: 0.5, message: "half ✓" }

/** Fenced, for heartbeats: (run, attempt) names the holder, and a heartbeat for any other attempt changes nothing. */
export const FENCED_HEARTBEATS = [
  lawCase("A heartbeat stores progress; null keeps the stored progress", async (store) => {
    const run = await running(store, aRun())

    await store.heartbeat(aHeartbeat({ held: [heldRun(run, { progress: HALF })] }))
    const first = await runById(store, run.id)
    await store.heartbeat(aHeartbeat({ held: [heldRun(run)] }))
    const second = await runById(store, run.id)
    await store.heartbeat(aHeartbeat({ held: [heldRun(run, { progress: { fraction: 1, message: null } })] }))

    assert.deepEqual([first.progress, second.progress], [HALF, HALF])
    const { claimableAt: _, progress, ...rest } = await runById(store, run.id)
    const { claimableAt: __, progress: ___, ...before } = run
    assert.deepEqual(progress, { fraction: 1, message: null })
    assert.deepEqual(rest, before)
  }),
  lawCase("A heartbeat for a run that was taken over returns it as lost", async (store, lab) => {
    const first = await abandoned(store, lab, aRun())
    const second = await claimed(store, first.id, { workerId: "second" })

    const gone = await beat(store, first)

    assert.deepEqual(gone, [{ runId: first.id, attempt: 1, why: "lost" }])
    assert.deepEqual(await runById(store, first.id), second)
  }),
  lawCase("A heartbeat for a cancelled run returns it as cancelled", async (store) => {
    const run = await running(store, aRun())
    await store.transition([cancel(run, NOBODY)!])
    const cancelled = await runById(store, run.id)

    const gone = await beat(store, run)

    assert.deepEqual(gone, [{ runId: run.id, attempt: 1, why: "cancelled" }])
    assert.deepEqual(await runById(store, run.id), cancelled)
  }),
  lawCase("A heartbeat for a finished run returns it as lost", async (store) => {
    const run = await running(store, aRun())
    await store.transition([succeed(run, NOTHING)])
    const finished = await runById(store, run.id)

    const gone = await beat(store, run)

    assert.deepEqual(gone, [{ runId: run.id, attempt: 1, why: "lost" }])
    assert.deepEqual(await runById(store, run.id), finished)
  }),
  lawCase("A heartbeat for a run that is pending again returns it as lost", async (store) => {
    const run = await running(store, aRun())
    await store.transition([release(run, "stopping")])
    const released = await runById(store, run.id)

    const gone = await beat(store, run)

    assert.deepEqual(gone, [{ runId: run.id, attempt: 1, why: "lost" }])
    assert.deepEqual(await runById(store, run.id), released)
  }),
  lawCase("A heartbeat for an earlier attempt of a cancelled run returns it as lost", async (store) => {
    const first = await running(store, aRun())
    await store.transition([cancel(first, NOBODY)!])
    await store.transition([retry({ ...first, state: "cancelled" }, null)!])
    const second = await claimed(store, first.id, { workerId: "second" })
    await store.transition([cancel(second, NOBODY)!])

    const gone = await beat(store, first)

    assert.deepEqual(gone, [{ runId: first.id, attempt: 1, why: "lost" }])
  }),
  lawCase("A heartbeat for an unknown run returns it as lost", async (store) => {
    const gone = await beat(store, { id: "unknown", attempt: 1 })

    assert.deepEqual(gone, [{ runId: "unknown", attempt: 1, why: "lost" }])
  }),
  lawCase("One heartbeat returns the runs that are gone and extends the others", async (store) => {
    await store.enqueue(["kept", "cancelled", "finished"].map((id) => aRun({ id })))
    const { runs } = await store.claim(aClaim())
    const run = (id: string) => runs.find((each) => each.id === id)!
    await store.transition([cancel(run("cancelled"), NOBODY)!, succeed(run("finished"), NOTHING)])

    const held = runs.map((each) => heldRun(each, { progress: HALF }))
    const { gone } = await store.heartbeat(aHeartbeat({ held }))

    const answers = gone.map(({ runId, attempt, why }) => `${runId} ${attempt} ${why}`).sort()
    assert.deepEqual(answers, ["cancelled 1 cancelled", "finished 1 lost"])
    assert.deepEqual((await runById(store, "kept")).progress, HALF)
    assert.equal((await runById(store, "finished")).progress, null)
  }),
  lawCase("A leaving worker's record is deleted, and its runs keep their leases", async (store, lab) => {
    const run = await running(store, aRun(), { tasks: [{ name: "report", leaseMs: SHORT_MS }] })
    await store.heartbeat(aHeartbeat({ worker: aWorker({ id: "worker" }) }))
    await store.heartbeat(aHeartbeat({ worker: aWorker({ id: "other" }) }))

    await store.heartbeat(aHeartbeat({ worker: aWorker({ id: "worker" }), isLeaving: true }))

    assert.deepEqual(idsOf(await allWorkers(store)), ["other"])
    assert.equal((await runById(store, run.id)).state, "running")
    await lab.pass(2 * SHORT_MS)
    assert.equal((await claimed(store, run.id, { workerId: "other" })).attempt, 2)
  }),
]

async function beat(store: Store, run: { id: string; attempt: number }) {
  const held = [heldRun(run, { progress: HALF })]
  return (await store.heartbeat(aHeartbeat({ held }))).gone
}
