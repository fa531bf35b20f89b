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

/** Deadlines by the system's clock: calls fail in time, whatever the way to the server does. */

const DEADLINE_MS = 1_000
/** For a machine that is busy. */
const SLACK_MS = 2_000
const OPTIONS = { deadlineMs: DEADLINE_MS, connections: 4 }
/** One for each call, so that none of them waits. */
const PLENTY = { deadlineMs: DEADLINE_MS, connections: 20 }

let proxy: FaultProxy
let url: string

beforeEach(async () => {
  proxy = await faultProxy(inject("postgres").port)
  atTheEnd(() => proxy.close())
  url = await migratedDatabase()
})

describe("in a black hole", () => {
  test("every call that is under way fails by its deadline", async () => {
    const store = await anOpenStore(proxy.through(url), PLENTY)
    await all((call) => call(store))
    proxy.blackhole()

    await inTime(() => all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store))))
  })

  test("all calls at once fail by their deadline, also those that wait for a connection", async () => {
    const store = await throughProxy()
    proxy.blackhole()

    await inTime(() => all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store))))
    await inTime(() => all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store))))
  })

  test("heartbeats that wait for one another fail by their deadline, each", async () => {
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
    const asking = rejectsWith("BELFRY_STORE_UNAVAILABLE", store.now())

    await inTime(() => store.close())
    await asking
  })

  test("closing ends by the deadline also if the goodbye gets lost", async () => {
    const store = await throughProxy()
    proxy.delay(50)
    const asking = store.now()
    await sleep(20)

    await inTime(async () => {
      const closing = store.close()
      await asking
      proxy.blackhole()
      await closing
    })
  })
})

test("calls to a server that is gone without a word fail by their deadline", async () => {
  const tarPit = await aTarPit()
  const store = await anOpenStore(atPort(url, tarPit.port), OPTIONS)
  tarPit.swallow()

  for (let times = 0; times < 2; times++)
    await inTime(() => all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store))))
  await inTime(() => rejectsWith("BELFRY_STORE_UNAVAILABLE", store.heartbeat(aHeartbeat())))
})

describe("on a way that is slower than the deadline", () => {
  test("calls fail by it", async () => {
    const store = await throughProxy()
    proxy.delay(DEADLINE_MS)

    await inTime(() => all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store))))
    await inTime(() => rejectsWith("BELFRY_STORE_UNAVAILABLE", store.heartbeat(aHeartbeat())))
  })

  test("heartbeats beside a pool that the program brought fail by it", async () => {
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

test("calls whose connection breaks fail at once", async () => {
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

test("a table that is locked for all writers is waited for by the deadline", async () => {
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
