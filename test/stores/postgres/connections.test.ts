import assert from "node:assert/strict"
import type { Pool } from "belfry/postgres"
import pg from "pg"
import { beforeEach, test } from "vitest"
import { aClaim, aHeartbeat, aRun, heldRun, LONG_MS } from "../../../src/store/laws/factories.ts"
import { runById, running, several } from "../../../src/store/laws/steps.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { anOpenStore, aPsql, aStoreOn, atTheEnd, connectionsTo, until } from "./scratch.ts"
import { wrapped } from "./wrapped-pool.ts"

/** How many connections a store uses, and that tasks which use up the pool do not harm heartbeats. */

let url: string
let pool: pg.Pool

beforeEach(async () => {
  url = await migratedDatabase()
  pool = new pg.Pool({ connectionString: url, max: 2, application_name: "belfry" })
  atTheEnd(() => pool.end())
})

test.each([
  ["both connections of the user's pool", () => pool as unknown as Pool, 2],
  ["all connections of a wrapped pool but the one that the store keeps", () => wrapped(pool), 1],
])("tasks that hold %s do not stop their worker from extending its leases", async (_, poolOf, tasks) => {
  const store = aStoreOn(poolOf())
  await store.open()
  const run = await running(store, aRun())
  await store.heartbeat(aHeartbeat())
  const taken = await Promise.all(several(tasks, () => pool.connect()))

  const { gone } = await store.heartbeat(aHeartbeat({ held: [heldRun(run, { leaseMs: 2 * LONG_MS })] }))

  for (const client of taken) client.release()
  assert.deepEqual(gone, [], "heartbeats have their own connection")
  assert.ok((await runById(store, run.id)).claimableAt! > run.claimableAt!)
})

test("a store opens at most its limit of connections, and one more for hints and heartbeats", async () => {
  const psql = await aPsql(url)
  const store = await anOpenStore(url, { connections: 3 })
  await store.listen(() => undefined)

  await Promise.all(several(50, () => store.claim(aClaim())))
  await Promise.all(several(5, () => store.heartbeat(aHeartbeat())))

  assert.equal(await connectionsTo(psql), 4)
  await store.close()
  await until(async () => (await connectionsTo(psql)) === 0, "all connections are closed")
})

test("closing a store leaves the caller's pool open, with no connection in use", async () => {
  const store = aStoreOn(pool)
  await store.open()
  await store.listen(() => undefined)
  await store.heartbeat(aHeartbeat())

  await store.close()

  assert.equal((await pool.query("select 1")).rowCount, 1)
  assert.deepEqual([pool.totalCount - pool.idleCount, pool.waitingCount], [0, 0])
  assert.equal(pool.listenerCount("error"), 0, "the store's listener is removed")
  const psql = await aPsql(url)
  await until(async () => (await connectionsTo(psql)) <= 2, "the reserved connection is closed")
})
