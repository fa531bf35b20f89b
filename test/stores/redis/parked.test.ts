import assert from "node:assert/strict"
import type { Store } from "belfry/store"
import { test } from "vitest"
import { cancel, type NewRun, release, succeed } from "../../../src/core/run.ts"
import { aClaim, aRun } from "../../../src/store/laws/factories.ts"
import { idsOf, several } from "../../../src/store/laws/steps.ts"
import { aFreshStore, aStoreAlone, commandsDuring } from "./scratch.ts"

const NOTHING = { message: null, details: null }
const NOBODY = { reason: null, by: null }

function limited(id: string, limit: number, over: Partial<NewRun> = {}): NewRun {
  return aRun({ id, concurrencyKey: "key", concurrencyLimit: limit, ...over })
}

/** As a worker asks: again at once, as long as there are more. */
async function claimIds(store: Store, limit = 100): Promise<readonly string[]> {
  const given: string[] = []
  for (;;) {
    const { now, runs, nextClaimableAt } = await store.claim(aClaim({ limit: limit - given.length }))
    given.push(...idsOf(runs))
    if (given.length === limit || nextClaimableAt !== now) return given
  }
}

async function finish(store: Store, id: string): Promise<void> {
  const [answer] = await store.transition([
    succeed({ id, state: "running", attempt: 1, failures: 0, lost: 0 }, NOTHING),
  ])
  assert.deepEqual(answer, { outcome: "done" })
}

test("ten thousand runs that wait for their key cost a claim nothing, once they were seen", async () => {
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

test("they go on in their order, one for each that ends", async () => {
  const { store } = await aFreshStore()
  for (const id of ["a", "b", "c", "d", "e"]) await store.enqueue([limited(id, 2)])
  const given: string[][] = [[...(await claimIds(store))]]

  for (const id of ["b", "a", "c"]) {
    await finish(store, id)
    given.push([...(await claimIds(store))])
  }

  assert.deepEqual(given, [["a", "b"], ["c"], ["d"], ["e"]])
})

test("one that waits is shown as due since it was, and is cancelled as any other", async () => {
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

test("when one that came back is cancelled before anybody took it, the next comes back", async () => {
  const { store } = await aFreshStore()
  for (const id of ["a", "b", "c"]) await store.enqueue([limited(id, 1)])
  await claimIds(store)
  await finish(store, "a")

  await store.transition([cancel({ id: "b", state: "pending", attempt: 0, failures: 0, lost: 0 }, NOBODY)!])

  assert.deepEqual(await claimIds(store), ["c"])
})

test("those with a strict limit don't keep those with a wider one waiting", async () => {
  const { store } = await aFreshStore()
  await store.enqueue(["a", "b", "c"].map((id) => limited(id, 3)))
  await claimIds(store)
  await store.enqueue(several(5, (index) => limited(`strict-${index}`, 1)))
  await store.enqueue([limited("wide", 3)])
  assert.deepEqual(await claimIds(store), [])

  await finish(store, "a")

  assert.deepEqual(await claimIds(store), ["wide"])
})

test("one that is given back makes room for another task's, and waits its turn", async () => {
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
