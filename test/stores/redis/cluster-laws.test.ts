import assert from "node:assert/strict"
import { LAWS, type Lab, type Store } from "belfry/store"
import { Cluster } from "ioredis"
import { afterAll, beforeAll, describe, test } from "vitest"
import { LOCK_LAWS, type LockLab } from "../../../src/lock.ts"
import { aClaim, aRun } from "../../../src/store/laws/factories.ts"
import { enqueued, idsOf } from "../../../src/store/laws/steps.ts"
import { type RedisCluster, startRedisCluster } from "../../support/redis-cluster.ts"
import { aClient, aStore, atTheEnd, hintsReceivedBy, openLocks, until } from "./scratch.ts"

/** On three nodes, in real time. Each case has its own prefix, so that together they use every node. */

let servers: RedisCluster
let prefix = ""
let prefixes = 0

beforeAll(async () => {
  servers = await startRedisCluster()
})
afterAll(() => servers?.stop())

const pass = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const lab: Lab = {
  async openStore() {
    prefix = `laws-${prefixes++}`
    return openStore()
  },
  openPeer: () => openStore(),
  pass,
}

const lockLab: LockLab = {
  async openBackend() {
    prefix = `locks-${prefixes++}`
    return open()
  },
  openPeer: () => open(),
  pass,
}

function aCluster(): Cluster {
  const cluster = new Cluster(servers.nodes.map(({ port }) => ({ host: "127.0.0.1", port })))
  cluster.on("error", () => undefined)
  atTheEnd(() => cluster.disconnect())
  return cluster
}

async function openStore(given = prefix): Promise<Store> {
  const store = aStore(aCluster(), { prefix: given })
  await store.open()
  return store
}

const open = () => openLocks(aCluster(), { prefix })

test("prefixes are on different nodes, and hints of one prefix do not reach stores of another", async () => {
  // The hash of a name decides its node.
  const names = ["shop", "bank", "post"]
  const stores = await Promise.all(names.map((name) => openStore(name)))
  const received = await Promise.all(names.map(async (name) => hintsReceivedBy(await openStore(name))))

  await enqueued(stores[0]!, aRun({ id: "r" }))

  await until(() => received[0]!.includes("runs"), "its own peer receives the hint")
  await enqueued(stores[1]!, aRun({ id: "r" }))
  await until(() => received[1]!.includes("runs"), "so does the second store's peer")
  assert.deepEqual(received, [["runs"], ["runs"], []])
  for (const store of stores.slice(0, 2)) assert.deepEqual(idsOf((await store.claim(aClaim())).runs), ["r"])
  assert.deepEqual((await stores[2]!.claim(aClaim())).runs, [])
  const nodes = servers.nodes.map(({ url }) => aClient(url))
  const holding = await Promise.all(
    names.map(async (name) => {
      const counts = await Promise.all(nodes.map(async (node) => (await node.keys(`{${name}}*`)).length))
      return counts.map((count) => count > 0)
    }),
  )
  for (const found of holding) assert.equal(found.filter(Boolean).length, 1, "a prefix is on one node")
  assert.ok(new Set(holding.map(String)).size > 1, "not all prefixes are on the same node")
})

for (const { number, name, cases } of LAWS) {
  describe(`Law ${number}, ${name}, of the Redis store on a cluster`, () => {
    for (const { title, prove } of cases) test(title, () => prove(lab))
  })
}

for (const { number, name, cases } of LOCK_LAWS) {
  describe(`Law ${number}, ${name}, of locks on a cluster`, () => {
    for (const { title, prove } of cases) test(title, () => prove(lockLab))
  })
}
