import assert from "node:assert/strict"
import { type EventEmitter, once } from "node:events"
import { setImmediate } from "node:timers/promises"
import { test, vi } from "vitest"
import { aRun } from "../../../src/store/laws/factories.ts"
import { SHARED_HINTS } from "../../../src/stores/kit/shared-hints.ts"
import { CHECK_EVERY_MS } from "../../../src/stores/redis/hints.ts"
import { advance, aVirtualClock } from "../../lock/lab.ts"
import { faultProxy } from "../../support/fault-proxy.ts"
import { startRedis } from "../../support/redis.ts"
import { aClient, anOpenStore, aStore, atTheEnd, heardBy, until } from "./scratch.ts"

/** A connection can end without a word to either side: a firewall forgets it, or a host is gone. */

const DEADLINE_MS = 5_000

async function aListener() {
  const server = await startRedis()
  atTheEnd(() => server.stop())
  const proxy = await faultProxy(server.port)
  atTheEnd(() => proxy.close())
  const { clock, checksAhead } = aCountingClock()
  const place = { url: proxy.through(server.url), prefix: "belfry" }
  const store = await anOpenStore(place, { deadlineMs: DEADLINE_MS, clock })
  const heard = await heardBy(store)
  await until(() => checksAhead() === 1, "the first check is set")
  return { server, proxy, clock, checksAhead, store, heard }
}

/** Virtual time, which tells how many checks were set so far. */
function aCountingClock() {
  const clock = aVirtualClock()
  let checks = 0
  const setTimer: typeof clock.setTimer = (delayMs, callback) => {
    if (delayMs === CHECK_EVERY_MS) checks++
    return clock.setTimer(delayMs, callback)
  }
  return { clock: { ...clock, setTimer }, checksAhead: () => checks }
}

test("a subscriber whose connection died silently is replaced, hints at everything, and hears again", async () => {
  const { server, proxy, clock, heard } = await aListener()
  const elsewhere = await anOpenStore({ url: server.url, prefix: "belfry" })
  proxy.silence()
  await elsewhere.enqueue([aRun({ id: "unheard" })])

  await advance(clock, CHECK_EVERY_MS)
  await advance(clock, DEADLINE_MS)

  await until(() => new Set(heard).size === SHARED_HINTS.length, "everything is hinted at")
  heard.length = 0
  await elsewhere.enqueue([aRun({ id: "heard" })])
  await until(() => heard.includes("runs"), "it hears again")
})

test("a subscriber that dies again is replaced again", async () => {
  const { proxy, clock, checksAhead, heard } = await aListener()

  for (let deaths = 1; deaths <= 2; deaths++) {
    proxy.silence()
    heard.length = 0
    await advance(clock, CHECK_EVERY_MS)
    await advance(clock, DEADLINE_MS)
    await until(() => new Set(heard).size === SHARED_HINTS.length, "everything is hinted at")
    await until(() => checksAhead() === 1 + deaths, "the next check is set")
  }
})

test("a subscriber that answers is left alone, and nothing is hinted at", async () => {
  const { server, clock, checksAhead, heard } = await aListener()
  const client = aClient(server.url)
  const before = await client.client("LIST")

  for (let checks = 1; checks <= 5; checks++) {
    await advance(clock, CHECK_EVERY_MS)
    await until(() => checksAhead() === 1 + checks, "the check is answered")
  }

  assert.equal(idsOf(await client.client("LIST")), idsOf(before))
  assert.deepEqual(heard, [])
})

test("a store that is closed checks no more", async () => {
  const { clock, checksAhead, store } = await aListener()

  await store.close()
  await advance(clock, 10 * CHECK_EVERY_MS)

  assert.equal(checksAhead(), 1)
})

test("a store that is closed while its subscriber is back and not yet answered ends without a stray error", async () => {
  const stray: unknown[] = []
  const onStray = (error: unknown) => stray.push(error)
  process.on("unhandledRejection", onStray)
  atTheEnd(() => process.off("unhandledRejection", onStray))
  const server = await startRedis()
  atTheEnd(() => server.stop())
  const proxy = await faultProxy(server.port)
  atTheEnd(() => proxy.close())
  const client = aClient(proxy.through(server.url))
  client.options.disconnectTimeout = 10
  const duplicate = vi.spyOn(client, "duplicate")
  const store = aStore(client)
  await store.open()
  await heardBy(store)
  const isAsked = new Promise<void>((resolve) => {
    // Whatever is asked on the new connection after this is never answered.
    void proxy.loseRequest((bytes) => {
      if (bytes.includes("subscribe")) {
        proxy.blackhole()
        resolve()
      }
      return false
    })
  })
  proxy.cut()
  await isAsked

  const hasEnded = once(duplicate.mock.results[0]!.value as EventEmitter, "end")
  await store.close()
  await hasEnded
  // Node tells of a rejection that nobody heard after all that is at hand was done.
  await setImmediate()

  assert.deepEqual(stray, [])
})

function idsOf(clientList: unknown): string {
  return [...String(clientList).matchAll(/^id=(\d+)/gm)].map(([, id]) => id).join(" ")
}
