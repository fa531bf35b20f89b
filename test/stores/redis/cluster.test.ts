import assert from "node:assert/strict"
import { Cluster, type Redis } from "ioredis"
import { test } from "vitest"
import { succeed } from "../../../src/core/run/run.ts"
import {
  aClaim,
  aHeartbeat,
  aLogLine,
  aPlan,
  aPruning,
  aRunOf,
  aSchedule,
} from "../../../src/store/laws/factories.ts"
import { aPage, created, idsOf, logOf } from "../../../src/store/laws/steps.ts"
import { startRedis } from "../../support/redis.ts"
import { aClient, aStore, atTheEnd, until } from "./scratch.ts"

async function aCluster(): Promise<{ cluster: Cluster; node: Redis }> {
  const server = await startRedis({
    settings: ["--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1"],
  })
  atTheEnd(() => server.stop())
  const node = aClient(server.url)
  await node.call("cluster", "addslots", ...Array.from({ length: 16_384 }, (_, slot) => slot))
  await until(async () => (await node.cluster("INFO")).includes("cluster_state:ok"), "the cluster is whole")
  const cluster = new Cluster([{ host: "127.0.0.1", port: server.port }])
  atTheEnd(() => cluster.disconnect())
  return { cluster, node }
}

test("a store works on a cluster, and all its keys are in one slot", async () => {
  const { cluster, node } = await aCluster()
  const store = aStore(cluster, { prefix: "shop" })
  const received: string[] = []
  await store.listen((hint) => received.push(hint))
  const schedule = await created(store, aSchedule({ id: "nightly", nextRunAt: 0, tags: ["a"] }))
  const runs = ["first", "second"].map((id) => aRunOf("nightly", { id, concurrencyLimit: 1 }))

  assert.equal((await store.dueSchedules({ limit: 10 })).due.length, 1)
  await store.fire([aPlan(schedule, { runs })])
  const { runs: claimed } = await store.claim(aClaim())
  await store.heartbeat(aHeartbeat())
  await store.appendLogs([aLogLine("first")])
  await store.transition(claimed.map((run) => succeed(run, { message: null, details: null })))
  await store.prune(aPruning())

  assert.deepEqual(idsOf((await store.claim(aClaim())).runs), ["second"])
  assert.deepEqual(idsOf(await store.findRuns({}, aPage())).toSorted(), ["first", "second"])
  assert.equal((await logOf(store, "first")).length, 1)
  await until(() => received.includes("runs"))
  const keys = await node.keys("*")
  const slots = new Set(await Promise.all(keys.map((key) => node.cluster("KEYSLOT", key))))
  assert.ok(keys.length > 10)
  assert.equal(slots.size, 1)
})
