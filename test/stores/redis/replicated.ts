import assert from "node:assert/strict"
import type { Store } from "belfry/store"
import type { Redis } from "ioredis"
import { succeed } from "../../../src/core/run/run.ts"
import { aHeartbeat, aPlan, aRun, aSchedule } from "../../../src/store/laws/factories.ts"
import { created, enqueued, runById, running } from "../../../src/store/laws/steps.ts"
import type { RedisServer } from "../../support/redis.ts"
import { aClient, hintsReceivedBy, until } from "./scratch.ts"

/** A store on a server with a replica, and the failover to the replica. */
export interface Replicated {
  readonly store: Store
  /** The client that the store uses. */
  readonly client: Redis
  readonly replica: RedisServer
  /** Kills the server, and promotes the replica in its place. */
  failOver(): Promise<void>
}

/** The replica may be promoted before the store is connected to it. */
async function answers(store: Store): Promise<boolean> {
  try {
    await store.heartbeat(aHeartbeat())
    return true
  } catch {
    // There is no primary yet, or the store is still connected to the old one.
    return false
  }
}

export async function assertContinues({ store, client, replica, failOver }: Replicated): Promise<void> {
  const received = await hintsReceivedBy(store)
  const schedule = await created(store, aSchedule({ id: "nightly", nextRunAt: 0 }))
  await store.fire([aPlan(schedule, { runs: [aRun({ id: "nightly@1" })] })])
  const held = await running(store, aRun({ id: "held", task: "other" }))
  assert.equal(await client.wait(1, 0), 1, "the replica has all writes")

  await failOver()
  await until(() => answers(store), "the store answers again")

  assert.match(await aClient(replica.url).info("replication"), /role:master/)
  assert.equal((await store.fire([aPlan(schedule)]))[0]?.outcome, "stale", "the schedule was fired already")
  const [ended] = await store.transition([succeed(held, { message: null, details: null })])
  assert.equal(ended?.outcome, "done")
  assert.equal((await runById(store, "nightly@1")).state, "pending")
  const before = received.length
  await enqueued(store, aRun({ id: "after" }))
  await until(() => received.slice(before).includes("runs"), "hints come from the new primary")
  assert.ok(!received.includes("forgotten"), "nothing was lost, and no loss is reported")
}

export async function assertLossReported({ store, client, replica, failOver }: Replicated): Promise<void> {
  const received = await hintsReceivedBy(store)
  const schedule = await created(store, aSchedule({ id: "nightly", nextRunAt: 0 }))
  assert.equal(await client.wait(1, 0), 1, "the replica has the schedule")
  await aClient(replica.url).replicaof("127.0.0.1", 1)
  await store.fire([aPlan(schedule, { runs: [aRun({ id: "nightly@1" })] })])

  await failOver()
  await until(() => answers(store), "the store answers again")

  await until(() => received.includes("forgotten"), "the loss is reported")
  // The occurrence is due again, and its run gets the same id.
  const [again] = await store.fire([aPlan(schedule, { runs: [aRun({ id: "nightly@1" })] })])
  assert.deepEqual(again, { outcome: "done", created: ["nightly@1"] })
}
