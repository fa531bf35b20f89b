import assert from "node:assert/strict"
import { DEFAULT_RETRY } from "../../core/run/backoff.ts"
import {
  cancel,
  fail,
  type Run,
  type RunChange,
  type RunRef,
  release,
  retry,
  succeed,
} from "../../core/run/run.ts"
import type { Store } from "../store.ts"
import { aPlan, aRun, aSchedule, aSkip } from "./factories.ts"
import { type Law, lawCase } from "./law.ts"
import {
  abandoned,
  countRuns,
  created,
  enqueued,
  idsOf,
  runById,
  runIfThere,
  running,
  several,
  tally,
  together,
  withPeers,
} from "./steps.ts"

const NOTHING = { message: null, details: null }
const NOBODY = { reason: null, by: null }
const FAILURE = { outcome: "failed", error: "Error", output: NOTHING } as const

const holding = [
  lawCase("A run whose live key is held isn't stored, and the answer names the holder", async (store) => {
    const holder = await enqueued(store, aRun({ liveKey: "key" }))
    const late = aRun({ liveKey: "key" })

    assert.deepEqual(await store.enqueue([late]), [{ outcome: "held", runId: holder.id }])

    assert.equal(await runIfThere(store, late.id), null)
  }),
  lawCase(
    "A pending run, a running run and a silent worker's run hold their live keys",
    async (store, lab) => {
      await enqueued(store, aRun({ id: "waiting", liveKey: "waiting", delayMs: 60_000 }))
      await running(store, aRun({ id: "running", liveKey: "running" }))
      await abandoned(store, lab, aRun({ id: "silent", liveKey: "silent" }))

      for (const key of ["waiting", "running", "silent"]) {
        assert.deepEqual(await store.enqueue([aRun({ liveKey: key })]), [{ outcome: "held", runId: key }])
      }
    },
  ),
  lawCase("A run that failed or was released and is pending again keeps its live key", async (store) => {
    const failed = await running(store, aRun({ id: "failed", liveKey: "failed" }))
    const released = await running(store, aRun({ id: "released", liveKey: "released" }))
    await store.transition([
      fail(failed, { ...FAILURE, retry: "policy" }, DEFAULT_RETRY, 0),
      release(released, "stopping"),
    ])

    for (const key of ["failed", "released"]) {
      assert.deepEqual(await store.enqueue([aRun({ liveKey: key })]), [{ outcome: "held", runId: key }])
    }
  }),
  lawCase("Runs without a live key, and runs with different live keys, are all stored", async (store) => {
    const keys = ["key", "Key", "kéy", "key ", ""]
    const runs = [aRun(), aRun(), ...keys.map((liveKey) => aRun({ liveKey }))]

    assert.deepEqual(tally(await store.enqueue(runs)), { created: 7 })
  }),
  lawCase("A skip holds no live key, because it is created finished", async (store) => {
    await enqueued(store, aSkip({ liveKey: "key" }))

    assert.deepEqual(tally(await store.enqueue([aRun({ liveKey: "key" })])), { created: 1 })
  }),
  lawCase("A run that holds its own live key can be sent again", async (store) => {
    const schedule = await created(store, aSchedule())
    const run = await enqueued(store, aRun({ liveKey: "key" }))

    const fired = await store.fire([aPlan(schedule, { runs: [aRun({ id: run.id, liveKey: "key" })] })])
    const again = await store.enqueue([aRun({ id: run.id, liveKey: "key" })])

    assert.deepEqual(fired, [{ outcome: "done", created: [] }])
    assert.deepEqual(again, [{ outcome: "exists", runId: run.id }])
  }),
  lawCase("A run that a fire created holds its live key", async (store) => {
    const schedule = await created(store, aSchedule())
    const run = aRun({ liveKey: "key" })

    await store.fire([aPlan(schedule, { runs: [run] })])

    assert.deepEqual(await store.enqueue([aRun({ liveKey: "key" })]), [{ outcome: "held", runId: run.id }])
  }),
]

/** Each way a run ends. */
const ENDS: Readonly<Record<string, (run: RunRef) => RunChange>> = {
  succeeded: (run) => succeed(run, NOTHING),
  failed: (run) => fail(run, { ...FAILURE, retry: "never" }, DEFAULT_RETRY, 0),
  cancelled: (run) => cancel(run, NOBODY)!,
}

const freeing = [
  ...Object.entries(ENDS).map(([state, end]) =>
    lawCase(
      `A run that ${state === "cancelled" ? "was" : "has"} ${state} frees its live key`,
      async (store) => {
        const first = await running(store, aRun({ liveKey: "key" }))

        await store.transition([end(first)])

        assert.equal((await runById(store, first.id)).state, state)
        assert.deepEqual(tally(await store.enqueue([aRun({ liveKey: "key" })])), { created: 1 })
      },
    ),
  ),
  lawCase("A run that was cancelled while it was pending frees its live key", async (store) => {
    const schedule = await created(store, aSchedule())
    const first = await enqueued(store, aRun({ liveKey: "key" }))
    await store.transition([cancel(first, NOBODY)!])

    const next = aRun({ liveKey: "key" })
    const answers = await store.fire([aPlan(schedule, { runs: [next] })])

    assert.deepEqual(answers, [{ outcome: "done", created: [next.id] }])
  }),
  lawCase("A retried run takes its live key again", async (store) => {
    const first = await cancelledRun(store)

    assert.deepEqual(await store.transition([retry(first, null)!]), [{ outcome: "done" }])

    assert.deepEqual(await store.enqueue([aRun({ liveKey: "key" })]), [{ outcome: "held", runId: first.id }])
  }),
  lawCase("A run can't be retried while another run holds its live key", async (store) => {
    const first = await cancelledRun(store)
    const second = await enqueued(store, aRun({ liveKey: "key" }))
    const before = await runById(store, first.id)

    assert.deepEqual(await store.transition([retry(first, "ann")!]), [{ outcome: "held" }])

    assert.deepEqual(await runById(store, first.id), before)
    await store.transition([cancel(second, NOBODY)!])
    assert.deepEqual(await store.transition([retry(first, "ann")!]), [{ outcome: "done" }])
  }),
]

const racing = [
  lawCase("Of twenty callers that enqueue with one live key at once, one succeeds", async (store, lab) => {
    const answers = await together(
      await withPeers(store, lab),
      20,
      async (peer) => (await peer.enqueue([aRun({ liveKey: "key" })]))[0]!,
    )

    assert.deepEqual(tally(answers), { created: 1, held: 19 })
    assert.equal(new Set(answers.map((answer) => answer.runId)).size, 1, "all name the holder")
    assert.equal((await countRuns(store)).pending, 1)
  }),
  lawCase("Of several runs with one live key in one enqueue, one is stored", async (store) => {
    const answers = await store.enqueue(several(3, () => aRun({ liveKey: "key" })))

    assert.deepEqual(tally(answers), { created: 1, held: 2 })
    assert.equal(new Set(answers.map((answer) => answer.runId)).size, 1, "all name the holder")
  }),
  lawCase("Of ten schedules that are fired with one live key at once, one succeeds", async (store, lab) => {
    const peers = await withPeers(store, lab)
    const schedules = await Promise.all(several(10, () => created(store, aSchedule())))
    const plans = schedules.map((schedule) => aPlan(schedule, { runs: [aRun({ liveKey: "key" })] }))

    const batches = [plans.slice(5), ...plans.slice(0, 5).map((plan) => [plan])]
    const answers = (await together(peers, 6, (peer, index) => peer.fire(batches[index]!))).flat()

    assert.deepEqual(tally(answers), { done: 1, held: 9 })
    assert.equal((await countRuns(store)).pending, 1)
  }),
  lawCase("Of five runs of one live key that are retried at once, one succeeds", async (store, lab) => {
    const peers = await withPeers(store, lab)
    const runs: Run[] = []
    for (let made = 0; made < 5; made++) runs.push(await cancelledRun(store))

    const answers = await together(
      peers,
      5,
      async (peer, index) => (await peer.transition([retry(runs[index]!, null)!]))[0]!,
    )

    assert.deepEqual(tally(answers), { done: 1, held: 4 })
    assert.deepEqual([(await countRuns(store)).pending, (await countRuns(store)).cancelled], [1, 4])
  }),
  lawCase("A new run and a retried run can't both take a free live key", async (store, lab) => {
    const peers = await withPeers(store, lab)
    const runs: Run[] = []
    for (let made = 0; made < 5; made++) runs.push(await cancelledRun(store, `key-${made}`))

    const answers = await together(peers, 10, async (peer, index) => {
      const run = runs[index % 5]!
      if (index < 5) return (await peer.transition([retry(run, null)!]))[0]!.outcome === "done"
      return (await peer.enqueue([aRun({ liveKey: run.liveKey })]))[0]!.outcome === "created"
    })

    for (let at = 0; at < 5; at++) assert.notEqual(answers[at], answers[at + 5], "one of the two has the key")
    const { pending } = await countRuns(store)
    assert.deepEqual([pending, idsOf(runs).length], [5, 5])
  }),
]

async function cancelledRun(store: Store, liveKey = "key") {
  const run = await enqueued(store, aRun({ liveKey }))
  await store.transition([cancel(run, NOBODY)!])
  return runById(store, run.id)
}

export const SINGLE: Law = {
  number: 6,
  name: "Single",
  statement: "At most one unfinished run holds a given live key.",
  cases: [...holding, ...freeing, ...racing],
}
