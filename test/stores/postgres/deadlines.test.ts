import { setImmediate } from "node:timers/promises"
import type { PostgresStore } from "belfry/postgres"
import pg from "pg"
import { beforeEach, describe, inject, test } from "vitest"
import { aHeartbeat } from "../../../src/store/laws/factories.ts"
import { countRuns } from "../../../src/store/laws/steps.ts"
import { type FaultProxy, faultProxy } from "../../support/fault-proxy.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { HandClock } from "./hand-clock.ts"
import {
  anOpenStore,
  aPsql,
  aStore,
  aStoreOn,
  atTheEnd,
  connectionsTo,
  rejectsWith,
  until,
  waitersForLocks,
} from "./scratch.ts"
import { all, CALLS } from "./store-calls.ts"

/**
 * The way to the server gives no answer. Whoever called hears of it when the deadline ends, and nobody hangs. Deadlines end
 * when a test says; how long they take by the system's clock is in `deadlines.long.test.ts`.
 */

const DEADLINE_MS = 3_600_000
const OPTIONS = { deadlineMs: DEADLINE_MS, connections: 4 }
/** One for each call, so that none of them waits. */
const PLENTY = { deadlineMs: DEADLINE_MS, connections: 20 }
/** The pool's, and the one that is reserved. */
const CONNECTIONS_MAX = OPTIONS.connections + 1

let proxy: FaultProxy
let url: string
let psql: pg.Client
let clock: HandClock

beforeEach(async () => {
  proxy = await faultProxy(inject("postgres").port)
  atTheEnd(() => proxy.close())
  url = await migratedDatabase()
  psql = await aPsql(url)
  clock = new HandClock()
})

describe("in a black hole", () => {
  test("every call that is under way fails by its deadline", async () => {
    const store = await throughProxy(PLENTY)
    await all((call) => call(store))
    // After a lost race the first look at what is due waits for a moment.
    await CALLS.dueSchedules(store)
    proxy.blackhole()

    await failByDeadline(Object.values(CALLS).map((call) => () => call(store)))
  })

  test("all calls at once fail by their deadline, also those that wait for a connection; then all succeed", async () => {
    const store = await throughProxy()
    proxy.blackhole()

    await failByDeadline(Object.values(CALLS).map((call) => () => call(store)))
    await failByDeadline(Object.values(CALLS).map((call) => () => call(store)))

    await proxy.mend()
    await all((call) => call(store))
    await until(async () => (await connectionsTo(psql)) <= CONNECTIONS_MAX, "no connection is left over")
  })

  test("heartbeats that wait for one another fail by their deadline, each", async () => {
    const store = await throughProxy()
    proxy.blackhole()

    await failByDeadline([1, 2, 3].map(() => () => store.heartbeat(aHeartbeat())))
  })

  test("opening fails by its deadline, and may be tried again", async () => {
    const store = aStore(proxy.through(url), { ...OPTIONS, clock })
    atTheEnd(() => proxy.mend())
    proxy.blackhole()

    await failByDeadline([() => store.open()])
    await proxy.mend()

    await store.open()
    await store.now()
  })

  test("closing ends by the deadline", async () => {
    const store = await throughProxy()
    await Promise.all([store.now(), store.now(), store.heartbeat(aHeartbeat())])
    await store.listen(() => undefined)
    // What it does in the background once it listens has ended.
    await until(() => clock.held === 0)
    proxy.blackhole()
    const asking = rejectsWith("BELFRY_STORE_UNAVAILABLE", store.now())

    const closing = store.close()
    await setImmediate()
    clock.advance(DEADLINE_MS)

    await closing
    await asking
  })

  test("closing ends by the deadline also if the goodbye gets lost", async () => {
    const store = await throughProxy()
    await psql.query("begin")
    await psql.query("lock table belfry.runs")
    const asking = countRuns(store)
    await until(async () => (await waitersForLocks(psql)) === 1)
    const closing = store.close()
    await psql.query("commit")
    await asking

    proxy.blackhole()
    clock.advance(DEADLINE_MS)

    await closing
  })
})

describe("a way that is slower than the deadline", () => {
  test("connections that come too late are used or given up, not kept", async () => {
    const store = await throughProxy()
    proxy.delay(100)

    await failByDeadline(Object.values(CALLS).map((call) => () => call(store)))
    await failByDeadline([1, 2, 3].map(() => () => store.heartbeat(aHeartbeat())))
    await proxy.mend()

    await all((call) => call(store))
    await until(async () => (await connectionsTo(psql)) <= CONNECTIONS_MAX, "no connection is left over")
  })

  test("leaves the pool of a program that brought its own with no more connections than it had, and one beside it", async () => {
    const pool = new pg.Pool({ connectionString: proxy.through(url), max: 2, application_name: "belfry" })
    pool.on("error", () => undefined)
    atTheEnd(() => pool.end())
    const store = aStoreOn(pool, { deadlineMs: DEADLINE_MS, clock })
    await store.open()
    proxy.delay(100)

    for (let times = 0; times < 3; times++) await failByDeadline([() => store.heartbeat(aHeartbeat())])
    await proxy.mend()

    await store.heartbeat(aHeartbeat())
    await until(async () => (await connectionsTo(psql)) <= 3, "no connection is left over")
  })
})

async function throughProxy(options = OPTIONS): Promise<PostgresStore> {
  const store = await anOpenStore(proxy.through(url), { ...options, clock })
  // Else it couldn't be closed before its deadline.
  atTheEnd(() => proxy.mend())
  return store
}

/** All at once: they fail as soon as their deadline has ended once. */
async function failByDeadline(calls: readonly (() => Promise<unknown>)[]): Promise<void> {
  const words = /the test's database did not answer within 3600 s\./
  const failing = Promise.all(calls.map((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(), words)))
  await setImmediate()
  await until(() => clock.held > 0, "calls are under way")

  clock.advance(DEADLINE_MS)

  await failing
}
