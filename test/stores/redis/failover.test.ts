import assert from "node:assert/strict"
import { redis } from "belfry/redis"
import type { Hint, Store } from "belfry/store"
import { Redis } from "ioredis"
import { test } from "vitest"
import { succeed } from "../../../src/core/run.ts"
import { aHeartbeat, aPlan, aRun, aSchedule } from "../../../src/store/laws/factories.ts"
import { created, enqueued, runById, running } from "../../../src/store/laws/steps.ts"
import { startWatchedRedis } from "../../support/redis-sentinel.ts"
import { aClient, atTheEnd, until } from "./scratch.ts"

/** A sentinel waits half a second, then for the others, then for the new one; on a busy machine each takes its time. */
const FAILOVER_MS = 40_000

async function isThere(store: Store): Promise<boolean> {
  try {
    await store.heartbeat(aHeartbeat())
    return true
  } catch {
    // Nobody is the primary yet, or the old one is still taken for it.
    return false
  }
}

/** A store on a watched server, and what it says of itself. */
async function aWatchedStore() {
  const servers = await startWatchedRedis()
  atTheEnd(servers.stop)
  const client = new Redis(servers.address)
  client.on("error", () => undefined)
  atTheEnd(() => client.disconnect())
  const store = redis(client)
  atTheEnd(() => store.close())
  const heard: Hint[] = []
  await store.listen((hint) => heard.push(hint))
  return { ...servers, client, store, heard }
}

test("when a replica takes the place of a server that died, the store goes on, and nothing is lost or doubled", {
  timeout: 3 * FAILOVER_MS,
}, async () => {
  const { primary, replica, client, store, heard } = await aWatchedStore()
  const schedule = await created(store, aSchedule({ id: "nightly", nextRunAt: 0 }))
  await store.fire([aPlan(schedule, { runs: [aRun({ id: "nightly@1" })] })])
  const held = await running(store, aRun({ id: "held", task: "other" }))
  assert.equal(await client.wait(1, FAILOVER_MS), 1, "the replica has it all")

  await primary.kill()
  await until(() => isThere(store), "somebody answers", FAILOVER_MS)

  assert.match(await aClient(replica.url).info("replication"), /role:master/)
  assert.equal((await store.fire([aPlan(schedule)]))[0]?.outcome, "stale", "it was fired already")
  const [ended] = await store.transition([succeed(held, { message: null, details: null })])
  assert.equal(ended?.outcome, "done")
  assert.equal((await runById(store, "nightly@1")).state, "pending")
  heard.length = 0
  await enqueued(store, aRun({ id: "after" }))
  await until(() => heard.includes("runs"), "hints come from the new one")
  assert.ok(!heard.includes("forgotten"), "nothing was lost, and nobody says so")
})

test("a replica that lacks what the dead server had confirmed is noticed", {
  timeout: 3 * FAILOVER_MS,
}, async () => {
  const { primary, replica, client, store, heard } = await aWatchedStore()
  const schedule = await created(store, aSchedule({ id: "nightly", nextRunAt: 0 }))
  assert.equal(await client.wait(1, FAILOVER_MS), 1, "the replica has it")
  await aClient(replica.url).replicaof("127.0.0.1", 1)
  await store.fire([aPlan(schedule, { runs: [aRun({ id: "nightly@1" })] })])

  await primary.kill()
  await until(() => isThere(store), "somebody answers", FAILOVER_MS)

  await until(() => heard.includes("forgotten"), "the loss is told")
  // The occurrence is due again, and becomes the run that it was.
  const [again] = await store.fire([aPlan(schedule, { runs: [aRun({ id: "nightly@1" })] })])
  assert.deepEqual(again, { outcome: "done", created: ["nightly@1"] })
})
