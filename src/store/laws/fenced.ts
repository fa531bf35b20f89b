import assert from "node:assert/strict"
import { cancel, release, retry, succeed } from "../../core/run/run.ts"
import { FENCED_DOCUMENTS } from "./documents.ts"
import { aPlan, aRun, aSchedule } from "./factories.ts"
import { FENCED_HEARTBEATS } from "./fenced-heartbeats.ts"
import { type Law, lawCase } from "./law.ts"
import {
  abandoned,
  claimed,
  countRuns,
  created,
  deleteSchedule,
  enqueued,
  putAgain,
  runById,
  runIfThere,
  running,
  scheduleById,
  scheduleIfThere,
  several,
  tally,
  together,
  withPeers,
} from "./steps.ts"

const NOTHING = { message: null, details: null }
const NOBODY = { reason: null, by: null }

const versions = [
  lawCase("A new schedule whose id exists is stale, and the stored one stays unchanged", async (store) => {
    const schedule = await created(store, aSchedule({ description: "first" }))

    const answer = await store.putSchedule(aSchedule({ id: schedule.id, description: "second" }), null)

    assert.deepEqual(answer, { outcome: "stale" })
    assert.deepEqual(await scheduleById(store, schedule.id), schedule)
  }),
  lawCase("A put with an old version is stale, and the stored schedule stays unchanged", async (store) => {
    const schedule = await created(store, aSchedule())
    await putAgain(store, schedule, { description: "first" })
    const before = await scheduleById(store, schedule.id)

    const answer = await putAgain(store, schedule, { description: "second" })

    assert.deepEqual(answer, { outcome: "stale" })
    assert.deepEqual(await scheduleById(store, schedule.id), before)
  }),
  lawCase("A put with a version is stale if the schedule isn't stored", async (store) => {
    const schedule = aSchedule()

    assert.deepEqual(await store.putSchedule(schedule, 1), { outcome: "stale" })

    assert.equal(await scheduleIfThere(store, schedule.id), null)
  }),
  lawCase("The store answers the version that it stores, and raises it with every change", async (store) => {
    const schedule = aSchedule()

    const first = await store.putSchedule(schedule, null)
    assert.ok(first.outcome === "done")
    const before = await scheduleById(store, schedule.id)
    const second = await store.putSchedule(schedule, first.version)
    assert.ok(second.outcome === "done")
    const after = await scheduleById(store, schedule.id)
    await store.fire([aPlan(after)])
    const fired = await scheduleById(store, schedule.id)

    assert.deepEqual([before.version, after.version], [first.version, second.version])
    assert.ok(second.version > first.version && fired.version > second.version)
  }),
  lawCase("A delete with an old version is stale, and the schedule stays", async (store) => {
    const schedule = await created(store, aSchedule())
    await putAgain(store, schedule)

    assert.deepEqual(await deleteSchedule(store, schedule), { outcome: "stale" })

    assert.ok(await scheduleIfThere(store, schedule.id))
  }),
  lawCase("The version of a deleted schedule is stale after it was created again", async (store) => {
    const first = await created(store, aSchedule())
    await deleteSchedule(store, first)
    const second = await created(store, aSchedule({ id: first.id, description: "another" }))
    const run = aRun()

    const fired = await store.fire([aPlan(first, { runs: [run] })])
    const put = await putAgain(store, first)
    const deleted = await deleteSchedule(store, first)

    assert.deepEqual([fired[0]?.outcome, put.outcome, deleted.outcome], ["stale", "stale", "stale"])
    assert.deepEqual(await scheduleById(store, first.id), second)
    assert.equal(await runIfThere(store, run.id), null)
  }),
  lawCase("A version never repeats for an id, however the schedule was deleted", async (store) => {
    const { id } = aSchedule()
    const versions: number[] = []
    for (let lives = 0; lives < 4; lives++) {
      const first = await created(store, aSchedule({ id }))
      await store.fire([aPlan(first)])
      const second = await scheduleById(store, id)
      await putAgain(store, second)
      const third = await scheduleById(store, id)
      versions.push(first.version, second.version, third.version)

      if (lives % 2 === 0) await deleteSchedule(store, { id, version: third.version })
      else await store.fire([aPlan(third, { progress: null })])
    }

    assert.equal(new Set(versions).size, 12, `versions were ${versions}`)
  }),
  lawCase("Of twenty callers that put the same new schedule at once, one succeeds", async (store, lab) => {
    const peers = await withPeers(store, lab)
    const schedule = aSchedule()

    const answers = await together(peers, 20, (peer, index) =>
      peer.putSchedule({ ...schedule, firedCount: index }, null),
    )

    assert.deepEqual(tally(answers), { done: 1, stale: 19 })
    const winner = answers.findIndex((answer) => answer.outcome === "done")
    assert.equal((await scheduleById(store, schedule.id)).firedCount, winner)
  }),
  lawCase("Of 21 callers that edit, fire or delete one version at once, one succeeds", async (store, lab) => {
    const peers = await withPeers(store, lab)
    const schedule = await created(store, aSchedule())

    const answers = await together(peers, 21, async (peer, index) => {
      if (index % 3 === 0) return putAgain(peer, schedule, { description: "edited" })
      if (index % 3 === 1) return deleteSchedule(peer, schedule)
      return (await peer.fire([aPlan(schedule, { runs: [aRun()] })]))[0]!
    })

    assert.deepEqual(tally(answers), { done: 1, stale: 20 })
    const winner = answers.findIndex((answer) => answer.outcome === "done") % 3
    const after = await scheduleIfThere(store, schedule.id)
    const counts = await countRuns(store)
    assert.deepEqual([after === null, counts.pending], [winner === 1, winner === 2 ? 1 : 0])
  }),
]

const steps = [
  lawCase("A change that names another state is stale, and the answer has the actual one", async (store) => {
    const run = await enqueued(store, aRun())
    await claimed(store, run.id)
    const before = await runById(store, run.id)

    const answers = await store.transition([{ ...cancel(run, NOBODY)!, ifAttempt: 1 }])

    assert.deepEqual(answers, [{ outcome: "stale", state: "running", attempt: 1 }])
    assert.deepEqual(await runById(store, run.id), before)
  }),
  lawCase("A worker that lost its run to another worker can't finish it", async (store, lab) => {
    const first = await abandoned(store, lab, aRun())
    const second = await claimed(store, first.id, { workerId: "second" })

    const answers = await store.transition([succeed(first, NOTHING)])

    assert.deepEqual(answers, [{ outcome: "stale", state: "running", attempt: 2 }])
    assert.deepEqual(await runById(store, first.id), second)
    assert.deepEqual(await store.transition([succeed(second, NOTHING)]), [{ outcome: "done" }])
  }),
  lawCase("A worker whose lease ended can finish the run if no other worker took it", async (store, lab) => {
    const run = await abandoned(store, lab, aRun())

    assert.deepEqual(await store.transition([succeed(run, NOTHING)]), [{ outcome: "done" }])

    assert.equal((await runById(store, run.id)).state, "succeeded")
  }),
  lawCase("A restarted worker of the same id can't finish an attempt from before", async (store) => {
    const first = await running(store, aRun(), { workerId: "same" })
    await store.transition([release(first, "stopping")])
    const second = await claimed(store, first.id, { workerId: "same" })

    const answers = await store.transition([succeed(first, NOTHING)])

    assert.deepEqual(answers, [{ outcome: "stale", state: "running", attempt: 2 }])
    assert.deepEqual(await runById(store, first.id), second)
  }),
  lawCase("A change to a run that isn't stored is stale, with a null state", async (store) => {
    const [answer] = await store.transition([succeed({ ...RUNNING, id: "unknown" }, NOTHING)])

    assert.ok(answer?.outcome === "stale")
    assert.equal(answer.state, null)
    assert.equal(await runIfThere(store, "unknown"), null)
  }),
  lawCase("Only a change that names its state changes a finished run", async (store) => {
    const run = await running(store, aRun())
    await store.transition([cancel(run, NOBODY)!])
    const cancelled = await runById(store, run.id)

    const late = await store.transition([
      succeed(run, NOTHING),
      release(run, "stopping"),
      cancel(run, NOBODY)!,
    ])
    const unchanged = await runById(store, run.id)
    const named = await store.transition([retry(cancelled, "ann")!])

    const stale = { outcome: "stale", state: "cancelled", attempt: 1 }
    assert.deepEqual(late, [stale, stale, stale])
    assert.deepEqual(unchanged, cancelled)
    assert.deepEqual(named, [{ outcome: "done" }])
  }),
  lawCase("Of twenty callers that end one attempt at once, one succeeds", async (store, lab) => {
    const peers = await withPeers(store, lab)
    const run = await running(store, aRun())

    const answers = await together(peers, 20, async (peer, index) => {
      const change =
        index % 2 === 0 ? succeed(run, { ...NOTHING, message: `${index}` }) : cancel(run, NOBODY)!
      return (await peer.transition([change]))[0]!
    })

    assert.deepEqual(tally(answers), { done: 1, stale: 19 })
    const winner = answers.findIndex((answer) => answer.outcome === "done")
    const after = await runById(store, run.id)
    assert.equal(after.attempts.length, 1)
    assert.deepEqual(
      [after.state, after.message],
      winner % 2 === 0 ? ["succeeded", `${winner}`] : ["cancelled", null],
    )
  }),
  lawCase("Of several changes to one attempt in one call, one succeeds", async (store) => {
    const run = await running(store, aRun())

    const answers = await store.transition(several(3, () => succeed(run, NOTHING)))

    assert.deepEqual(tally(answers), { done: 1, stale: 2 })
    assert.equal((await runById(store, run.id)).attempts.length, 1)
  }),
]

const RUNNING = { state: "running", attempt: 1, failures: 0, lost: 0 } as const

export const FENCED: Law = {
  number: 3,
  name: "Fenced",
  statement:
    "A change names the version, or the state and attempt, it was decided on. If the record has changed since, nothing happens and the answer says so.",
  cases: [...versions, ...steps, ...FENCED_HEARTBEATS, ...FENCED_DOCUMENTS],
}
