import assert from "node:assert/strict"
import type { Hint, Store } from "belfry/store"
import { test } from "vitest"
import { aHeartbeat, aPlan, aRun, aSchedule } from "../../../src/store/laws/factories.ts"
import { created } from "../../../src/store/laws/steps.ts"
import { SCHEMA } from "../../../src/stores/redis/opening.ts"
import { startRedis } from "../../support/redis.ts"
import { aClient, aFreshStore, anOpenStore, atTheEnd, until } from "./scratch.ts"

const VERSIONS = "{belfry}:versions"

async function aServer() {
  const server = await startRedis()
  atTheEnd(() => server.stop())
  return { server, client: aClient(server.url) }
}

/** The hints of losses that the store sends from now on. */
async function lossHintsOf(store: Store): Promise<Hint[]> {
  const received: Hint[] = []
  await store.listen((hint) => {
    if (hint === "forgotten") received.push(hint)
  })
  return received
}

test("a store whose keys were deleted reports the loss once, at the next heartbeat", async () => {
  const { server, client } = await aServer()
  const { store } = await aFreshStore({ url: server.url, prefix: "belfry" })
  const received = await lossHintsOf(store)
  await store.heartbeat(aHeartbeat())

  await client.flushall()
  await store.heartbeat(aHeartbeat())

  await until(() => received.length > 0, "the store reports the loss")
  await store.heartbeat(aHeartbeat())
  assert.deepEqual(received, ["forgotten"])
  assert.equal(await client.hget("{belfry}:schema", "version"), String(SCHEMA))
})

test("a store whose keys were deleted reports the loss once, at the next read of due schedules", async () => {
  const { server, client } = await aServer()
  const { store } = await aFreshStore({ url: server.url, prefix: "belfry" })
  const received = await lossHintsOf(store)
  await created(store, aSchedule({ nextRunAt: 1 }))
  await store.dueSchedules({ limit: 10 })
  assert.deepEqual(received, [])

  await client.flushall()
  await store.dueSchedules({ limit: 10 })

  await until(() => received.length > 0, "the store reports the loss")
  await store.dueSchedules({ limit: 10 })
  assert.deepEqual(received, ["forgotten"])
})

test("an idle store reports the loss when it reconnects", async () => {
  const { server } = await aServer()
  const { store } = await aFreshStore({ url: server.url, prefix: "belfry" })
  const received = await lossHintsOf(store)

  await server.restart()

  await until(() => received.length > 0, "the store reports the loss")
  assert.deepEqual(received, ["forgotten"])
})

test("a store checks for a loss when the server lacks a known script: it may be a replica that took over", async () => {
  const { server, client } = await aServer()
  const { store } = await aFreshStore({ url: server.url, prefix: "belfry" })
  const received = await lossHintsOf(store)
  await created(store, aSchedule())
  await store.now()

  await client.set(VERSIONS, 0)
  await client.script("FLUSH")
  await store.now()

  await until(() => received.length > 0, "the store reports the loss")
})

test("a store that finds the version too low raises it, and other stores learn of the loss by the mark", async () => {
  const { server, client } = await aServer()
  const place = { url: server.url, prefix: "belfry" }
  const [store, peer] = [await anOpenStore(place), await anOpenStore(place)]
  const [received, receivedByPeer] = [await lossHintsOf(store), await lossHintsOf(peer)]
  const schedule = await created(store, aSchedule({ nextRunAt: 0 }))
  await store.fire([aPlan(schedule, { runs: [aRun()] })])
  const version = Number(await client.get(VERSIONS))

  await client.set(VERSIONS, version - 2)
  await store.heartbeat(aHeartbeat())
  await until(() => received.length > 0, "the store reports the loss")
  // The peer has seen a lower version than the one stored now.
  await peer.heartbeat(aHeartbeat())
  await until(() => receivedByPeer.length > 0, "the peer reports the loss")

  assert.ok(Number(await client.get(VERSIONS)) > version + 1_000_000)
  assert.deepEqual([received, receivedByPeer], [["forgotten"], ["forgotten"]])
})
