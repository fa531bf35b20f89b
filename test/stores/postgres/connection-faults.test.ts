import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { createScheduler, defineTask, silentLogger } from "belfry"
import type { PostgresStore } from "belfry/postgres"
import type { Store } from "belfry/store"
import pg from "pg"
import { beforeEach, describe, inject, test } from "vitest"
import { aClaim, aHeartbeat } from "../../../src/store/laws/factories.ts"
import { poolFor } from "../../../src/stores/postgres/own-pool.ts"
import { createPostgresStore } from "../../../src/stores/postgres/postgres-store.ts"
import { type FaultProxy, faultProxy } from "../../support/fault-proxy.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { atPort } from "../../support/servers.ts"
import { HandClock } from "./hand-clock.ts"
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

/** Connections break, or the server is gone: calls fail, and succeed again once there is a way. */

/** For tests in which calls fail by it. One that is to succeed may fail by it too, and is then tried again. */
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
  test("every call that is under way fails without its deadline, and then succeeds", async () => {
    const { store, atRest } = await throughProxy(20)
    await all((call) => call(store))
    await atRest()

    await failWhileCut(() => all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store))))

    await all((call) => call(store))
  })

  test("broken while nobody uses it, it costs no call", async () => {
    const { store, pool, atRest } = await throughProxy()
    await all((call) => call(store))

    for (let times = 0; times < 5; times++) {
      await atRest()
      proxy.cut()
      await until(() => pool.totalCount === 0, "the pool has noticed")
      await all((call) => call(store))
    }

    await until(async () => (await connectionsTo(psql)) <= CONNECTIONS + 1, "no connection is left over")
  })

  test("may be of a pool that the program brought", async () => {
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

describe("a server that is gone without a word", () => {
  test("connections it never answered don't use up the pool: the next are made to the one that is back", async () => {
    const tarPit = await aTarPit()
    const store = await withShortDeadline(atPort(url, tarPit.port))
    tarPit.swallow()

    // More than the pool has. Those who were swallowed are never told, neither now nor when the server is back.
    for (let times = 0; times < 2; times++)
      await all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store)))
    tarPit.pass()

    for (const call of Object.values(CALLS)) await until(() => succeeds(store, call), "calls succeed again")
    await until(() => tarPit.swallowed() === 0, "what was never answered is given up")
  })

  test("a listener hears again once it is back", async () => {
    const tarPit = await aTarPit()
    const store = await withShortDeadline(atPort(url, tarPit.port))
    const heard: string[] = []
    await store.listen((hint) => heard.push(hint))
    await until(() => heard.length > 0)
    tarPit.swallow()
    await rejectsWith("BELFRY_STORE_UNAVAILABLE", store.heartbeat(aHeartbeat()))
    await until(() => tarPit.swallowed() > 0, "another connection was tried")
    tarPit.pass()

    await until(() => succeeds(store, CALLS.heartbeat), "the leaseKeeper beats again")
    // A listener is told everything when it is connected again, and then only what happens.
    await sleep(100)
    heard.length = 0
    await psql.query("select belfry.enqueue('report')")

    await until(() => heard.includes("runs"), "a hint")
  })
})

test("where nobody listens every call fails, and says where", async () => {
  const { store, pool } = await throughProxy()
  proxy.refuse()
  proxy.cut()
  await until(() => pool.totalCount === 0, "the pool has noticed")

  const words = /the test's database can't be used\. PostgreSQL says: connect ECONNREFUSED/
  await all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store), words))
  await proxy.mend()

  await all((call) => call(store))
})

test("a scheduler in a black hole goes on with its loops, and performs what was due when the way is mended", async () => {
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
  await until(() => isDone(scheduler.start()), "it starts")
  atTheEnd(() => scheduler.stop())
  await until(() => performed.length >= 1)

  proxy.blackhole()
  const faultsBefore = faults.length
  await until(() => faults.length >= faultsBefore + 2, "it says that the way is gone")
  const before = performed.length
  await proxy.mend()

  await until(() => performed.length >= before + 3, "it performs again")
  await scheduler.stop()
  const { rows } = await psql.query("select scheduled_for from belfry.runs order by scheduled_for")
  const seconds = rows.map((row) => row.scheduled_for.getTime() / 1_000)
  assert.deepEqual(
    seconds,
    seconds.map((_, index) => seconds[0]! + index),
    "every second has its run",
  )
  assert.equal(new Set(performed).size, performed.length, "nothing was performed twice")
})

interface Watched {
  readonly store: PostgresStore
  readonly pool: pg.Pool
  /** Nothing is under way any more, not even a hint to other processes. */
  atRest(): Promise<void>
}

async function throughProxy(connections = CONNECTIONS): Promise<Watched> {
  const pool = await poolFor(proxy.through(url), connections, PATIENCE_MS)
  const about = { schema: "belfry", where: "the test's database", deadlineMs: PATIENCE_MS }
  const clock = new HandClock()
  const store = createPostgresStore(async () => ({ pool, isOurs: true }), about, clock)
  atTheEnd(() => store.close())
  await store.open()
  return {
    store,
    pool: pool as unknown as pg.Pool,
    atRest: () => until(() => clock.held === 0 && clock.isWithoutPauses, "nothing is under way"),
  }
}

async function withShortDeadline(address: string): Promise<PostgresStore> {
  const store = aStore(address, { deadlineMs: SHORT_DEADLINE_MS, connections: CONNECTIONS })
  await until(() => succeeds(store, (each: Store) => each.open()))
  return store
}

/** The calls get no answer, and every connection they make breaks, until all of them have failed. */
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
