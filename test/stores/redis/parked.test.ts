import assert from "node:assert/strict"
import type { Store } from "belfry/store"
import { test } from "vitest"
import { cancel, type NewRun, release, succeed } from "../../../src/core/run/run.ts"
import { aClaim, aRun } from "../../../src/store/laws/factories.ts"
import { idsOf, several } from "../../../src/store/laws/steps.ts"
import { aFreshStore, aStoreAlone, commandsDuring } from "./scratch.ts"

const NOTHING = { message: null, details: null }
const NOBODY = { reason: null, by: null }

function limited(id: string, limit: number, over: Partial<NewRun> = {}): NewRun {
  return aRun({ id, concurrencyKey: "key", concurrencyLimit: limit, ...over })
}

/** Claims like a worker: again at once while there are more. */
async function claimIds(store: Store, limit = 100): Promise<readonly string[]> {
  const claimed: string[] = []
  for (;;) {
    const { now, runs, nextClaimableAt } = await store.claim(aClaim({ limit: limit - claimed.length }))
    claimed.push(...idsOf(runs))
    if (claimed.length === limit || nextClaimableAt !== now) return claimed
  }
}

async function finish(store: Store, id: string): Promise<void> {
  const [answer] = await store.transition([
    succeed({ id, state: "running", attempt: 1, failures: 0, lost: 0 }, NOTHING),
  ])
  assert.deepEqual(answer, { outcome: "done" })
}

test("ten thousand runs that wait for their key cost later claims nothing", async () => {
  const { store, client } = await aStoreAlone()
  await store.enqueue([limited("first", 1, { priority: 20 }), ...several(10_000, () => limitedAbove())])
  await store.enqueue([aRun({ id: "free-1" }), aRun({ id: "free-2" })])

  assert.deepEqual(await claimIds(store, 2), ["first", "free-1"])
  const commands = await commandsDuring(client, async () => {
    assert.deepEqual(await claimIds(store), ["free-2"])
  })

  const calls = [...commands.values()].reduce((sum, each) => sum + each, 0)
  assert.ok(calls < 50, `${calls} commands`)
})

let made = 0
function limitedAbove(): NewRun {
  made++
  return limited(`waiting-${made}`, 1, { priority: 10 })
}

test("waiting runs are claimed in order, one for each run that ends", async () => {
  const { store } = await aFreshStore()
  for (const id of ["a", "b", "c", "d", "e"]) await store.enqueue([limited(id, 2)])
  const claimed: string[][] = [[...(await claimIds(store))]]

  for (const id of ["b", "a", "c"]) {
    await finish(store, id)
    claimed.push([...(await claimIds(store))])
  }

  assert.deepEqual(claimed, [["a", "b"], ["c"], ["d"], ["e"]])
})

test("a waiting run keeps its due time, and can be cancelled", async () => {
  const { store } = await aFreshStore()
  await store.enqueue([limited("a", 1)])
  await store.enqueue([limited("b", 1), limited("c", 1)])
  const [before] = await store.findRuns({ ids: ["b"] }, { orderBy: "createdAt", after: null, limit: 1 })
  assert.deepEqual(await claimIds(store), ["a"])

  const [waiting] = await store.findRuns({ ids: ["b"] }, { orderBy: "createdAt", after: null, limit: 1 })
  await store.transition([cancel(waiting!, NOBODY)!])
  await finish(store, "a")

  assert.deepEqual(waiting, before)
  assert.deepEqual(await claimIds(store), ["c"])
})

test("when a run that returned to its queue is cancelled before a claim, the next one returns", async () => {
  const { store } = await aFreshStore()
  for (const id of ["a", "b", "c"]) await store.enqueue([limited(id, 1)])
  await claimIds(store)
  await finish(store, "a")

  await store.transition([cancel({ id: "b", state: "pending", attempt: 0, failures: 0, lost: 0 }, NOBODY)!])

  assert.deepEqual(await claimIds(store), ["c"])
})

test("runs with a lower limit do not block runs with a higher limit", async () => {
  const { store } = await aFreshStore()
  await store.enqueue(["a", "b", "c"].map((id) => limited(id, 3)))
  await claimIds(store)
  await store.enqueue(several(5, (index) => limited(`strict-${index}`, 1)))
  await store.enqueue([limited("wide", 3)])
  assert.deepEqual(await claimIds(store), [])

  await finish(store, "a")

  assert.deepEqual(await claimIds(store), ["wide"])
})

test("a released run makes room for a run of another task, and waits its turn", async () => {
  const { store } = await aFreshStore()
  await store.enqueue([limited("a", 1)])
  const [run] = (await store.claim(aClaim())).runs
  await store.enqueue([limited("b", 1, { task: "other" })])
  const other = aClaim({ tasks: [{ name: "other", leaseMs: 60_000 }] })
  assert.deepEqual((await store.claim(other)).runs, [])

  await store.transition([release(run!, "stopping")])

  assert.deepEqual(idsOf((await store.claim(other)).runs), ["b"])
  assert.deepEqual(await claimIds(store), [])
  await finish(store, "b")
  assert.deepEqual(await claimIds(store), ["a"])
})
