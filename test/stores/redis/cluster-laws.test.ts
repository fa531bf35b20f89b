import assert from "node:assert/strict"
import { LAWS, type Lab, type Store } from "belfry/store"
import { Cluster } from "ioredis"
import { afterAll, beforeAll, describe, test } from "vitest"
import { LOCK_LAWS, type LockLab } from "../../../src/lock.ts"
import { aClaim, aRun } from "../../../src/store/laws/factories.ts"
import { enqueued, idsOf } from "../../../src/store/laws/steps.ts"
import { type RedisCluster, startRedisCluster } from "../../support/redis-cluster.ts"
import { aClient, aStore, atTheEnd, heardBy, openLocks, until } from "./scratch.ts"

/** On three nodes, in real time. Each case has a prefix of its own, so that all of them together come to every node. */

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

test("namespaces lie on different nodes, and what happens in one is heard there and not in the other", async () => {
  // Which node a name comes to is a matter of its hash.
  const names = ["shop", "bank", "post"]
  const stores = await Promise.all(names.map((name) => openStore(name)))
  const heard = await Promise.all(names.map(async (name) => heardBy(await openStore(name))))

  await enqueued(stores[0]!, aRun({ id: "r" }))

  await until(() => heard[0]!.includes("runs"), "its own peer hears of it")
  await enqueued(stores[1]!, aRun({ id: "r" }))
  await until(() => heard[1]!.includes("runs"), "so does the other's")
  assert.deepEqual(heard, [["runs"], ["runs"], []])
  for (const store of stores.slice(0, 2)) assert.deepEqual(idsOf((await store.claim(aClaim())).runs), ["r"])
  assert.deepEqual((await stores[2]!.claim(aClaim())).runs, [])
  const nodes = servers.nodes.map(({ url }) => aClient(url))
  const holding = await Promise.all(
    names.map(async (name) => {
      const counts = await Promise.all(nodes.map(async (node) => (await node.keys(`{${name}}*`)).length))
      return counts.map((count) => count > 0)
    }),
  )
  for (const found of holding) assert.equal(found.filter(Boolean).length, 1, "a namespace is on one node")
  assert.ok(new Set(holding.map(String)).size > 1, "not all are on the same")
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
