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

/** What is heard of losses. */
async function listened(store: Store): Promise<Hint[]> {
  const heard: Hint[] = []
  await store.listen((hint) => {
    if (hint === "forgotten") heard.push(hint)
  })
  return heard
}

test("a store whose keys are deleted under it notices at the next heartbeat, once", async () => {
  const { server, client } = await aServer()
  const { store } = await aFreshStore({ url: server.url, prefix: "belfry" })
  const heard = await listened(store)
  await store.heartbeat(aHeartbeat())

  await client.flushall()
  await store.heartbeat(aHeartbeat())

  await until(() => heard.length > 0, "it notices")
  await store.heartbeat(aHeartbeat())
  assert.deepEqual(heard, ["forgotten"])
  assert.equal(await client.hget("{belfry}:schema", "version"), String(SCHEMA))
})

test("a store whose keys are deleted under it notices when it looks for what is due, once", async () => {
  const { server, client } = await aServer()
  const { store } = await aFreshStore({ url: server.url, prefix: "belfry" })
  const heard = await listened(store)
  await created(store, aSchedule({ nextRunAt: 1 }))
  await store.dueSchedules({ limit: 10 })
  assert.deepEqual(heard, [])

  await client.flushall()
  await store.dueSchedules({ limit: 10 })

  await until(() => heard.length > 0, "it notices")
  await store.dueSchedules({ limit: 10 })
  assert.deepEqual(heard, ["forgotten"])
})

test("a store that asks nothing notices when it is connected again", async () => {
  const { server } = await aServer()
  const { store } = await aFreshStore({ url: server.url, prefix: "belfry" })
  const heard = await listened(store)

  await server.restart()

  await until(() => heard.length > 0, "it notices")
  assert.deepEqual(heard, ["forgotten"])
})

test("a store notices when the server doesn't know a script that it knew: it may be a replica that took over", async () => {
  const { server, client } = await aServer()
  const { store } = await aFreshStore({ url: server.url, prefix: "belfry" })
  const heard = await listened(store)
  await created(store, aSchedule())
  await store.now()

  await client.set(VERSIONS, 0)
  await client.script("FLUSH")
  await store.now()

  await until(() => heard.length > 0, "it notices")
})

test("a store whose counter went back raises it, and others learn of it by the mark", async () => {
  const { server, client } = await aServer()
  const place = { url: server.url, prefix: "belfry" }
  const [store, peer] = [await anOpenStore(place), await anOpenStore(place)]
  const [heard, heardByPeer] = [await listened(store), await listened(peer)]
  const schedule = await created(store, aSchedule({ nextRunAt: 0 }))
  await store.fire([aPlan(schedule, { runs: [aRun()] })])
  const version = Number(await client.get(VERSIONS))

  await client.set(VERSIONS, version - 2)
  await store.heartbeat(aHeartbeat())
  await until(() => heard.length > 0, "it notices")
  // The peer has seen less than what is there now.
  await peer.heartbeat(aHeartbeat())
  await until(() => heardByPeer.length > 0, "the peer learns of it")

  assert.ok(Number(await client.get(VERSIONS)) > version + 1_000_000)
  assert.deepEqual([heard, heardByPeer], [["forgotten"], ["forgotten"]])
})
