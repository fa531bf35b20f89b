import assert from "node:assert/strict"
import { redis, redisLocks } from "belfry/redis"
import { test } from "vitest"
import { aClaim, aRun } from "../../../src/store/laws/factories.ts"
import { aPage, running } from "../../../src/store/laws/steps.ts"
import { faultProxy } from "../../support/fault-proxy.ts"
import { startRedis } from "../../support/redis.ts"
import { anOpenStore, atTheEnd, rejectsWith } from "./scratch.ts"

/** How much later than its deadline a call may end on a machine with a busy core. */
const LATE_MS = 1_500

async function assertWithin(limitMs: number, work: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now()
  await work()
  const tookMs = performance.now() - startedAt
  assert.ok(tookMs < limitMs + LATE_MS, `it took ${tookMs} ms`)
}

test("a server that stops answering fails every call by the deadline", async () => {
  const server = await startRedis()
  atTheEnd(() => server.stop())
  const store = await anOpenStore({ url: server.url, prefix: "belfry" }, { deadlineMs: 2_000 })
  await running(store, aRun())
  process.kill(server.pid!, "SIGSTOP")
  atTheEnd(() => server.pid !== null && process.kill(server.pid, "SIGCONT"))

  await assertWithin(2_000, async () => {
    const calls = [store.now(), store.enqueue([aRun()]), store.claim(aClaim()), store.findRuns({}, aPage())]
    await Promise.all(calls.map((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call)))
  })
})

test("a server that stops answering fails calls of locks within five seconds", async () => {
  const server = await startRedis()
  atTheEnd(() => server.stop())
  const proxy = await faultProxy(server.port)
  atTheEnd(() => proxy.close())
  const backend = redisLocks(proxy.through(server.url))
  atTheEnd(() => backend.close())
  await backend.open()
  proxy.blackhole()

  await assertWithin(5_000, () =>
    rejectsWith("BELFRY_STORE_UNAVAILABLE", backend.acquire("invoices", "first", 60_000)),
  )
})

test("an unreachable server fails calls within five seconds", async () => {
  const store = redis("redis://127.0.0.1:1")
  atTheEnd(() => store.close())

  await assertWithin(5_000, () => rejectsWith("BELFRY_STORE_UNAVAILABLE", store.open()))
  await assertWithin(5_000, () => rejectsWith("BELFRY_STORE_UNAVAILABLE", store.now()))
})
