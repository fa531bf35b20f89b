import { setImmediate } from "node:timers/promises"
import type { PostgresStore } from "belfry/postgres"
import pg from "pg"
import { beforeEach, describe, inject, test } from "vitest"
import { aHeartbeat } from "../../../src/store/laws/factories.ts"
import { countRuns } from "../../../src/store/laws/steps.ts"
import { type FaultProxy, faultProxy } from "../../support/fault-proxy.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { ManualClock } from "./manual-clock.ts"
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
 * The network gives no answer: calls fail at their deadline, and none hangs. The tests advance the clock to the deadline; how
 * long it takes in real time is tested in `deadlines.long.test.ts`.
 */

const DEADLINE_MS = 3_600_000
const OPTIONS = { deadlineMs: DEADLINE_MS, connections: 4 }
/** One connection for each call, so that no call waits for one. */
const ENOUGH_CONNECTIONS = { deadlineMs: DEADLINE_MS, connections: 20 }
/** The pool's connections and the reserved one. */
const CONNECTIONS_MAX = OPTIONS.connections + 1

let proxy: FaultProxy
let url: string
let psql: pg.Client
let clock: ManualClock

beforeEach(async () => {
  proxy = await faultProxy(inject("postgres").port)
  atTheEnd(() => proxy.close())
  url = await migratedDatabase()
  psql = await aPsql(url)
  clock = new ManualClock()
})

describe("on a network that drops everything", () => {
  test("every running call fails by its deadline", async () => {
    const store = await throughProxy(ENOUGH_CONNECTIONS)
    await all((call) => call(store))
    // After a lost race the first read of due schedules waits for a short time.
    await CALLS.dueSchedules(store)
    proxy.blackhole()

    await failByDeadline(Object.values(CALLS).map((call) => () => call(store)))
  })

  test("concurrent calls fail by their deadline, also calls that wait for a connection; later calls succeed", async () => {
    const store = await throughProxy()
    proxy.blackhole()

    await failByDeadline(Object.values(CALLS).map((call) => () => call(store)))
    await failByDeadline(Object.values(CALLS).map((call) => () => call(store)))

    await proxy.mend()
    await all((call) => call(store))
    await until(async () => (await connectionsTo(psql)) <= CONNECTIONS_MAX, "no connection is left over")
  })

  test("each of several queued heartbeats fails by its deadline", async () => {
    const store = await throughProxy()
    proxy.blackhole()

    await failByDeadline([1, 2, 3].map(() => () => store.heartbeat(aHeartbeat())))
  })

  test("opening fails by its deadline, and can be tried again", async () => {
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
    // Wait for the warm-up that `listen` starts in the background.
    await until(() => clock.pendingTimers === 0)
    proxy.blackhole()
    const running = rejectsWith("BELFRY_STORE_UNAVAILABLE", store.now())

    const closing = store.close()
    await setImmediate()
    clock.advance(DEADLINE_MS)

    await closing
    await running
  })

  test("closing ends by the deadline also if the close message is lost", async () => {
    const store = await throughProxy()
    await psql.query("begin")
    await psql.query("lock table belfry.runs")
    const running = countRuns(store)
    await until(async () => (await waitersForLocks(psql)) === 1)
    const closing = store.close()
    await psql.query("commit")
    await running

    proxy.blackhole()
    clock.advance(DEADLINE_MS)

    await closing
  })
})

describe("a network that is slower than the deadline", () => {
  test("leaves no extra connections: late ones are used or closed", async () => {
    const store = await throughProxy()
    proxy.delay(100)

    await failByDeadline(Object.values(CALLS).map((call) => () => call(store)))
    await failByDeadline([1, 2, 3].map(() => () => store.heartbeat(aHeartbeat())))
    await proxy.mend()

    await all((call) => call(store))
    await until(async () => (await connectionsTo(psql)) <= CONNECTIONS_MAX, "no connection is left over")
  })

  test("leaves the program's own pool with its connections and one reserved connection", async () => {
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
  // Without this, the store could not be closed before its deadline.
  atTheEnd(() => proxy.mend())
  return store
}

/** Starts all calls, advances the clock to the deadline once, and expects all calls to fail. */
async function failByDeadline(calls: readonly (() => Promise<unknown>)[]): Promise<void> {
  const words = /the test's database did not answer within 3600 s\./
  const failing = Promise.all(calls.map((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(), words)))
  await setImmediate()
  await until(() => clock.pendingTimers > 0, "calls are running")

  clock.advance(DEADLINE_MS)

  await failing
}
