import assert from "node:assert/strict"
import { cancel, release, succeed } from "../../core/run/run.ts"
import { aClaim, aRun } from "./factories.ts"
import { type Law, lawCase } from "./law.ts"
import {
  abandoned,
  claimed,
  countRuns,
  enqueued,
  idsOf,
  running,
  several,
  together,
  withPeers,
} from "./steps.ts"

const NOTHING = { message: null, details: null }
const ONE = { concurrencyKey: "key", concurrencyLimit: 1 }

const keeping = [
  lawCase("A run whose key is held by a running run isn't given", async (store) => {
    const first = await running(store, aRun(ONE), { limit: 1 })
    await enqueued(store, aRun(ONE))

    assert.deepEqual((await store.claim(aClaim({ workerId: "second" }))).runs, [])

    await store.transition([succeed(first, NOTHING)])
    assert.equal((await store.claim(aClaim())).runs.length, 1)
  }),
  lawCase("Runs given by the same claim count towards the limit", async (store) => {
    await store.enqueue([...several(5, () => aRun(ONE)), ...several(5, () => aRun(limitedTo(3, "another")))])

    const { runs } = await store.claim(aClaim())

    const held = (key: string) => runs.filter((run) => run.concurrencyKey === key).length
    assert.deepEqual([held("key"), held("another")], [1, 3])
  }),
  lawCase("Twenty workers that claim at once reach the limits and don't exceed them", async (store, lab) => {
    const peers = await withPeers(store, lab)
    const keys = ["a", "b", "c", "d"]
    await store.enqueue(several(60, (index) => aRun(limitedTo(index % 2 === 0 ? 1 : 3, keys[index % 4]!))))

    const counts = new Map(keys.map((key) => [key, 0]))
    for (let rounds = 0; rounds < 5; rounds++) {
      const claims = await together(peers, 20, (peer, index) =>
        peer.claim(aClaim({ workerId: `w${index}`, limit: 5 })),
      )
      for (const { concurrencyKey } of claims.flatMap(({ runs }) => runs)) {
        counts.set(concurrencyKey!, counts.get(concurrencyKey!)! + 1)
      }
    }

    assert.deepEqual([...counts.values()], [1, 3, 1, 3])
    assert.equal((await countRuns(store)).running, 8)
  }),
  lawCase("Keys are compared exactly", async (store) => {
    await store.enqueue(["key", "Key", "kéy", "key "].map((key) => aRun(limitedTo(1, key))))

    assert.equal((await store.claim(aClaim())).runs.length, 4)
  }),
  lawCase("A key counts runs of all tasks", async (store) => {
    await running(store, aRun({ ...ONE, task: "other" }))
    await enqueued(store, aRun(ONE))

    assert.deepEqual((await store.claim(aClaim())).runs, [])
  }),
  lawCase("A pending run doesn't hold its key", async (store) => {
    await enqueued(store, aRun({ ...ONE, delayMs: 600_000 }))
    const due = await enqueued(store, aRun(ONE))

    assert.deepEqual(idsOf((await store.claim(aClaim())).runs), [due.id])
  }),
  lawCase("A run that was released or cancelled frees its key", async (store) => {
    const first = await running(store, aRun({ ...ONE, priority: -1 }))
    const second = await enqueued(store, aRun(ONE))

    await store.transition([release(first, "stopping")])
    const taken = await claimed(store, second.id)
    await store.transition([cancel(taken, { reason: null, by: null })!])

    assert.deepEqual(idsOf((await store.claim(aClaim())).runs), [first.id])
  }),
  lawCase(
    "A silent worker's run holds its key until it is taken over, and can be claimed itself",
    async (store, lab) => {
      const silent = await abandoned(store, lab, aRun({ ...ONE, task: "other" }))
      await enqueued(store, aRun({ ...ONE, priority: 10 }))
      const both = ["report", "other"].map((name) => ({ name, leaseMs: 600_000 }))

      const others = await store.claim(aClaim())
      const all = await store.claim(aClaim({ tasks: both }))

      assert.deepEqual([others.runs, idsOf(all.runs)], [[], [silent.id]])
    },
  ),
]

const unlimited = [
  lawCase("Runs without a limit, and runs without a key, may run in any number", async (store) => {
    await store.enqueue([
      ...several(3, () => aRun({ concurrencyKey: "key", concurrencyLimit: null })),
      ...several(3, () => aRun({ concurrencyKey: null, concurrencyLimit: 1 })),
    ])

    assert.equal((await store.claim(aClaim())).runs.length, 6)
  }),
  lawCase("Each run obeys its own limit, and every running run with the key counts", async (store) => {
    await running(store, aRun({ concurrencyKey: "key", concurrencyLimit: null }))
    const strict = await enqueued(store, aRun(limitedTo(1)))
    const lenient = await enqueued(store, aRun(limitedTo(2)))
    const free = await enqueued(store, aRun({ concurrencyKey: "key", concurrencyLimit: null, priority: -1 }))

    const { runs } = await store.claim(aClaim())

    assert.ok(!idsOf(runs).includes(strict.id))
    assert.deepEqual(idsOf(runs), [lenient.id, free.id])
  }),
  lawCase("Runs that wait for their key don't keep other runs from being given", async (store) => {
    await running(store, aRun(ONE))
    await store.enqueue(several(25, () => aRun({ ...ONE, priority: 10 })))
    const free = await enqueued(store, aRun())

    const { runs } = await store.claim(aClaim({ limit: 5 }))

    assert.deepEqual(idsOf(runs), [free.id])
  }),
]

function limitedTo(concurrencyLimit: number, concurrencyKey = "key") {
  return { concurrencyKey, concurrencyLimit }
}

export const SERIAL: Law = {
  number: 7,
  name: "Serial",
  statement:
    "A claim never gives a run when as many runs with its concurrency key are running as its limit allows.",
  cases: [...keeping, ...unlimited],
}
