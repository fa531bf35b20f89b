import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import { beforeEach, describe, inject, test } from "vitest"
import { aClaim, aHeartbeat } from "../../../src/store/laws/factories.ts"
import { type FaultProxy, faultProxy } from "../../support/fault-proxy.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { atPort } from "../../support/servers.ts"
import { anOpenStore, aPsql, aStore, aStoreOn, atTheEnd, rejectsWith } from "./scratch.ts"
import { all } from "./store-calls.ts"
import { aTarPit } from "./tar-pit.ts"

/** Deadlines by the system's clock: calls fail in time, whatever the network does. */

const DEADLINE_MS = 1_000
/** Tolerance for a busy machine. */
const SLACK_MS = 2_000
const OPTIONS = { deadlineMs: DEADLINE_MS, connections: 4 }
/** One connection for each call, so that no call waits for one. */
const ENOUGH_CONNECTIONS = { deadlineMs: DEADLINE_MS, connections: 20 }

let proxy: FaultProxy
let url: string

beforeEach(async () => {
  proxy = await faultProxy(inject("postgres").port)
  atTheEnd(() => proxy.close())
  url = await migratedDatabase()
})

describe("on a network that drops everything", () => {
  test("every running call fails by its deadline", async () => {
    const store = await anOpenStore(proxy.through(url), ENOUGH_CONNECTIONS)
    await all((call) => call(store))
    proxy.blackhole()

    await inTime(() => all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store))))
  })

  test("concurrent calls fail by their deadline, also calls that wait for a connection", async () => {
    const store = await throughProxy()
    proxy.blackhole()

    await inTime(() => all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store))))
    await inTime(() => all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store))))
  })

  test("each of several queued heartbeats fails by its deadline", async () => {
    const store = await throughProxy()
    proxy.blackhole()

    await inTime(() =>
      Promise.all(
        [1, 2, 3].map(() => rejectsWith("BELFRY_STORE_UNAVAILABLE", store.heartbeat(aHeartbeat()))),
      ),
    )
  })

  test("opening fails by its deadline", async () => {
    const store = aStore(proxy.through(url), OPTIONS)
    proxy.blackhole()

    await inTime(() => rejectsWith("BELFRY_STORE_UNAVAILABLE", store.open()))
  })

  test("closing ends by the deadline", async () => {
    const store = await throughProxy()
    await Promise.all([store.now(), store.now(), store.heartbeat(aHeartbeat())])
    await store.listen(() => undefined)
    proxy.blackhole()
    const failing = rejectsWith("BELFRY_STORE_UNAVAILABLE", store.now())

    await inTime(() => store.close())
    await failing
  })

  test("closing ends by the deadline also if the close message is lost", async () => {
    const store = await throughProxy()
    proxy.delay(50)
    const failing = store.now()
    await sleep(20)

    await inTime(async () => {
      const closing = store.close()
      await failing
      proxy.blackhole()
      await closing
    })
  })
})

test("calls to a server that vanished without closing connections fail by their deadline", async () => {
  const tarPit = await aTarPit()
  const store = await anOpenStore(atPort(url, tarPit.port), OPTIONS)
  tarPit.swallow()

  for (let times = 0; times < 2; times++)
    await inTime(() => all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store))))
  await inTime(() => rejectsWith("BELFRY_STORE_UNAVAILABLE", store.heartbeat(aHeartbeat())))
})

describe("on a network that is slower than the deadline", () => {
  test("calls fail by the deadline", async () => {
    const store = await throughProxy()
    proxy.delay(DEADLINE_MS)

    await inTime(() => all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store))))
    await inTime(() => rejectsWith("BELFRY_STORE_UNAVAILABLE", store.heartbeat(aHeartbeat())))
  })

  test("heartbeats of a store on the program's own pool fail by the deadline", async () => {
    const pool = new pg.Pool({ connectionString: proxy.through(url), max: 2 })
    pool.on("error", () => undefined)
    atTheEnd(() => pool.end())
    const store = aStoreOn(pool, { deadlineMs: DEADLINE_MS })
    await store.open()
    proxy.delay(DEADLINE_MS)

    for (let times = 0; times < 3; times++)
      await inTime(() => rejectsWith("BELFRY_STORE_UNAVAILABLE", store.heartbeat(aHeartbeat())))
  })
})

test("calls fail at once when their connection breaks", async () => {
  const store = await anOpenStore(proxy.through(url), { connections: 20 })
  await all((call) => call(store))
  proxy.delay(100)

  await inTime(async () => {
    const failing = all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store)))
    await sleep(100)
    proxy.cut()
    await failing
  })
})

test("a claim on a table that is locked for writers fails by the deadline", async () => {
  const store = await anOpenStore(url, OPTIONS)
  const psql = await aPsql(url)
  await psql.query("begin")
  await psql.query("lock table belfry.runs in share mode")

  await inTime(() => rejectsWith("BELFRY_STORE_UNAVAILABLE", store.claim(aClaim())))
})

function throughProxy() {
  return anOpenStore(proxy.through(url), OPTIONS)
}

async function inTime(work: () => Promise<unknown>): Promise<void> {
  const beganAt = performance.now()
  await work()
  const tookMs = performance.now() - beganAt
  assert.ok(tookMs < DEADLINE_MS + SLACK_MS, `it took ${tookMs} ms`)
}
