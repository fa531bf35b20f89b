import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { createScheduler, defineTask, silentLogger } from "belfry"
import type { PostgresStore } from "belfry/postgres"
import type { Store } from "belfry/store"
import pg from "pg"
import { beforeEach, describe, inject, test } from "vitest"
import { aClaim, aHeartbeat } from "../../../src/store/laws/factories.ts"
import { ignoreConnectionErrors } from "../../../src/stores/postgres/connection-errors.ts"
import { poolFor } from "../../../src/stores/postgres/own-pool.ts"
import { createPostgresStore } from "../../../src/stores/postgres/postgres-store.ts"
import { type FaultProxy, faultProxy } from "../../support/fault-proxy.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { atPort } from "../../support/servers.ts"
import { ManualClock } from "./manual-clock.ts"
import {
  aPsql,
  aStore,
  aStoreOn,
  atTheEnd,
  connectionsTo,
  PATIENCE_MS,
  rejectsWith,
  until,
} from "./scratch.ts"
import { all, CALLS, succeeds } from "./store-calls.ts"
import { aTarPit } from "./tar-pit.ts"

/** Connections break, or the server vanishes: calls fail, and succeed again when the server is reachable. */

/** For tests in which calls fail at the deadline. A call that must succeed may fail at it too, and is then tried again. */
const SHORT_DEADLINE_MS = 1_000
const CONNECTIONS = 4

let proxy: FaultProxy
let url: string
let psql: pg.Client

beforeEach(async () => {
  proxy = await faultProxy(inject("postgres").port)
  atTheEnd(() => proxy.close())
  url = await migratedDatabase()
  psql = await aPsql(url)
})

describe("a connection that breaks", () => {
  test("fails every running call before its deadline; later calls succeed", async () => {
    const { store, atRest } = await throughProxy(20)
    await all((call) => call(store))
    await atRest()

    await failWhileCut(() => all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store))))

    await all((call) => call(store))
  })

  test("while idle fails no call", async () => {
    const { store, pool, atRest } = await throughProxy()
    await all((call) => call(store))

    for (let times = 0; times < 5; times++) {
      await atRest()
      proxy.cut()
      await until(() => pool.totalCount === 0, "the pool has removed its connections")
      await all((call) => call(store))
    }

    await until(async () => (await connectionsTo(psql)) <= CONNECTIONS + 1, "no connection is left over")
  })

  test("may belong to the program's own pool", async () => {
    const pool = new pg.Pool({ connectionString: proxy.through(url), max: 2 })
    pool.on("error", () => undefined)
    atTheEnd(() => pool.end())
    const store = aStoreOn(pool)
    await store.open()

    const calls = () => [store.now(), store.claim(aClaim()), store.heartbeat(aHeartbeat())]
    await failWhileCut(() =>
      Promise.all(calls().map((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call))),
    )

    assert.ok((await store.now()) > 0)
  })
})

describe("a server that vanishes without closing connections", () => {
  test("does not exhaust the pool with unanswered connections; new connections reach the server when it is back", async () => {
    const tarPit = await aTarPit()
    const store = await withShortDeadline(atPort(url, tarPit.port))
    tarPit.swallow()

    // More calls than the pool has connections. Swallowed connections never get an answer, also not when the server is back.
    for (let times = 0; times < 2; times++)
      await all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store)))
    tarPit.pass()

    for (const call of Object.values(CALLS)) await until(() => succeeds(store, call), "calls succeed again")
    await until(() => tarPit.swallowed() === 0, "unanswered connections are closed")
  })

  test("sends hints to listeners again when it is back", async () => {
    const tarPit = await aTarPit()
    const store = await withShortDeadline(atPort(url, tarPit.port))
    const received: string[] = []
    await store.listen((hint) => received.push(hint))
    await until(() => received.length > 0)
    tarPit.swallow()
    await rejectsWith("BELFRY_STORE_UNAVAILABLE", store.heartbeat(aHeartbeat()))
    await until(() => tarPit.swallowed() > 0, "another connection was tried")
    tarPit.pass()

    await until(() => succeeds(store, CALLS.heartbeat), "heartbeats succeed again")
    // After a reconnect a listener gets every hint, and then only new ones.
    await sleep(100)
    received.length = 0
    await psql.query("select belfry.enqueue('report')")

    await until(() => received.includes("runs"), "a hint arrives")
  })
})

test("with no server at the address, every call fails and names the address", async () => {
  const { store, pool } = await throughProxy()
  proxy.refuse()
  proxy.cut()
  await until(() => pool.totalCount === 0, "the pool has removed its connections")

  const words = /the test's database can't be used\. PostgreSQL reported: connect ECONNREFUSED/
  await all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store), words))
  await proxy.mend()

  await all((call) => call(store))
})

test("a scheduler without a network keeps its loops running, and performs what was due when the network is back", async () => {
  const performed: string[] = []
  const faults: unknown[] = []
  const tick = defineTask({ name: "tick", run: ({ run }) => void performed.push(run.id) })
  const scheduler = createScheduler({
    store: await withShortDeadline(proxy.through(url)),
    tasks: [tick],
    schedules: [tick.schedule("often", { cron: "* * * * * *", overlap: "allow", catchUp: "all" })],
    hooks: { error: (error) => void faults.push(error) },
    logger: silentLogger,
  })
  await until(() => isDone(scheduler.start()), "the scheduler starts")
  atTheEnd(() => scheduler.stop())
  await until(() => performed.length >= 1)

  proxy.blackhole()
  const faultsBefore = faults.length
  await until(() => faults.length >= faultsBefore + 2, "the scheduler reports the faults")
  const before = performed.length
  await proxy.mend()

  await until(() => performed.length >= before + 3, "runs are performed again")
  await scheduler.stop()
  const { rows } = await psql.query("select scheduled_for from belfry.runs order by scheduled_for")
  const seconds = rows.map((row) => row.scheduled_for.getTime() / 1_000)
  assert.deepEqual(
    seconds,
    seconds.map((_, index) => seconds[0]! + index),
    "every second has a run",
  )
  assert.equal(new Set(performed).size, performed.length, "nothing was performed twice")
})

interface Watched {
  readonly store: PostgresStore
  readonly pool: pg.Pool
  /** Waits until nothing is running any more, not even a hint to other processes. */
  atRest(): Promise<void>
}

async function throughProxy(connections = CONNECTIONS): Promise<Watched> {
  const pool = await poolFor(proxy.through(url), connections, PATIENCE_MS)
  const about = { schema: "belfry", where: "the test's database", deadlineMs: PATIENCE_MS }
  const clock = new ManualClock()
  const store = createPostgresStore(async () => ({ pool, isOwned: true }), about, clock)
  atTheEnd(() => store.close())
  await store.open()
  return {
    store,
    pool: pool as unknown as pg.Pool,
    atRest: () => until(() => clock.pendingTimers === 0 && clock.hasNoPauses, "nothing is running"),
  }
}

async function withShortDeadline(address: string): Promise<PostgresStore> {
  const store = aStore(address, { deadlineMs: SHORT_DEADLINE_MS, connections: CONNECTIONS })
  await until(() => succeeds(store, (each: Store) => each.open()))
  return store
}

/** Leaves the calls unanswered and cuts every connection that they open, until all of them have failed. */
async function failWhileCut(begin: () => Promise<unknown>): Promise<void> {
  proxy.blackhole()
  let isOver = false
  const failing = begin().finally(() => {
    isOver = true
  })
  await Promise.all([
    failing,
    until(() => {
      proxy.cut()
      return isOver
    }),
  ])
  await proxy.mend()
}

function isDone(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}

test("a connection has a listener for errors from its first moment, so that it can't end the process", async () => {
  const pool = new pg.Pool({ connectionString: url })
  const stopIgnoring = ignoreConnectionErrors(pool)

  const client = await pool.connect()

  assert.equal(client.listenerCount("error"), 1)
  client.release()
  stopIgnoring()
  await pool.end()
})
