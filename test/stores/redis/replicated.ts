import assert from "node:assert/strict"
import type { Store } from "belfry/store"
import type { Redis } from "ioredis"
import { succeed } from "../../../src/core/run.ts"
import { aHeartbeat, aPlan, aRun, aSchedule } from "../../../src/store/laws/factories.ts"
import { created, enqueued, runById, running } from "../../../src/store/laws/steps.ts"
import type { RedisServer } from "../../support/redis.ts"
import { aClient, heardBy, until } from "./scratch.ts"

/** A store on a server that has a replica, and how the replica takes the server's place. */
export interface Replicated {
  readonly store: Store
  /** The store's own. */
  readonly client: Redis
  readonly replica: RedisServer
  /** The server dies, and the store finds the replica in its place. */
  failOver(): Promise<void>
}

/** The replica may be there before the store has found it. */
async function answers(store: Store): Promise<boolean> {
  try {
    await store.heartbeat(aHeartbeat())
    return true
  } catch {
    // Nobody is the primary yet, or the old one is still taken for it.
    return false
  }
}

export async function assertGoesOn({ store, client, replica, failOver }: Replicated): Promise<void> {
  const heard = await heardBy(store)
  const schedule = await created(store, aSchedule({ id: "nightly", nextRunAt: 0 }))
  await store.fire([aPlan(schedule, { runs: [aRun({ id: "nightly@1" })] })])
  const held = await running(store, aRun({ id: "held", task: "other" }))
  assert.equal(await client.wait(1, 0), 1, "the replica has it all")

  await failOver()
  await until(() => answers(store), "somebody answers")

  assert.match(await aClient(replica.url).info("replication"), /role:master/)
  assert.equal((await store.fire([aPlan(schedule)]))[0]?.outcome, "stale", "it was fired already")
  const [ended] = await store.transition([succeed(held, { message: null, details: null })])
  assert.equal(ended?.outcome, "done")
  assert.equal((await runById(store, "nightly@1")).state, "pending")
  const before = heard.length
  await enqueued(store, aRun({ id: "after" }))
  await until(() => heard.slice(before).includes("runs"), "hints come from the new one")
  assert.ok(!heard.includes("forgotten"), "nothing was lost, and nobody says so")
}

export async function assertLossNoticed({ store, client, replica, failOver }: Replicated): Promise<void> {
  const heard = await heardBy(store)
  const schedule = await created(store, aSchedule({ id: "nightly", nextRunAt: 0 }))
  assert.equal(await client.wait(1, 0), 1, "the replica has it")
  await aClient(replica.url).replicaof("127.0.0.1", 1)
  await store.fire([aPlan(schedule, { runs: [aRun({ id: "nightly@1" })] })])

  await failOver()
  await until(() => answers(store), "somebody answers")

  await until(() => heard.includes("forgotten"), "the loss is told")
  // The occurrence is due again, and becomes the run that it was.
  const [again] = await store.fire([aPlan(schedule, { runs: [aRun({ id: "nightly@1" })] })])
  assert.deepEqual(again, { outcome: "done", created: ["nightly@1"] })
}
