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
import { aClient, anOpenStore, aStore, atTheEnd, hintsReceivedBy, until } from "./scratch.ts"

/** A connection can end without a message to either side: a firewall drops it, or its host vanishes. */

const DEADLINE_MS = 5_000

async function aListener() {
  const server = await startRedis()
  atTheEnd(() => server.stop())
  const proxy = await faultProxy(server.port)
  atTheEnd(() => proxy.close())
  const { clock, checksScheduled } = aCountingClock()
  const place = { url: proxy.through(server.url), prefix: "belfry" }
  const store = await anOpenStore(place, { deadlineMs: DEADLINE_MS, clock })
  const received = await hintsReceivedBy(store)
  await until(() => checksScheduled() === 1, "the first check is scheduled")
  return { server, proxy, clock, checksScheduled, store, received }
}

/** A virtual clock that counts the checks that were scheduled. */
function aCountingClock() {
  const clock = aVirtualClock()
  let checks = 0
  const setTimer: typeof clock.setTimer = (delayMs, callback) => {
    if (delayMs === CHECK_EVERY_MS) checks++
    return clock.setTimer(delayMs, callback)
  }
  return { clock: { ...clock, setTimer }, checksScheduled: () => checks }
}

test("a subscriber that stops answering is replaced: listeners get every hint, and then new hints again", async () => {
  const { server, proxy, clock, received } = await aListener()
  const elsewhere = await anOpenStore({ url: server.url, prefix: "belfry" })
  proxy.silence()
  await elsewhere.enqueue([aRun({ id: "missed" })])

  await advance(clock, CHECK_EVERY_MS)
  await advance(clock, DEADLINE_MS)

  await until(() => new Set(received).size === SHARED_HINTS.length, "listeners get every hint")
  received.length = 0
  await elsewhere.enqueue([aRun({ id: "after" })])
  await until(() => received.includes("runs"), "new hints arrive again")
})

test("a subscriber that stops answering again is replaced again", async () => {
  const { proxy, clock, checksScheduled, received } = await aListener()

  for (let deaths = 1; deaths <= 2; deaths++) {
    proxy.silence()
    received.length = 0
    await advance(clock, CHECK_EVERY_MS)
    await advance(clock, DEADLINE_MS)
    await until(() => new Set(received).size === SHARED_HINTS.length, "listeners get every hint")
    await until(() => checksScheduled() === 1 + deaths, "the next check is scheduled")
  }
})

test("a subscriber that answers its checks is kept, and listeners get no hint", async () => {
  const { server, clock, checksScheduled, received } = await aListener()
  const client = aClient(server.url)
  const before = await client.client("LIST")

  for (let checks = 1; checks <= 5; checks++) {
    await advance(clock, CHECK_EVERY_MS)
    await until(() => checksScheduled() === 1 + checks, "the check is answered")
  }

  assert.equal(idsOf(await client.client("LIST")), idsOf(before))
  assert.deepEqual(received, [])
})

test("a closed store makes no further checks", async () => {
  const { clock, checksScheduled, store } = await aListener()

  await store.close()
  await advance(clock, 10 * CHECK_EVERY_MS)

  assert.equal(checksScheduled(), 1)
})

test("closing a store while its subscriber resubscribes causes no unhandled rejection", async () => {
  const unhandled: unknown[] = []
  const onUnhandled = (error: unknown) => unhandled.push(error)
  process.on("unhandledRejection", onUnhandled)
  atTheEnd(() => process.off("unhandledRejection", onUnhandled))
  const server = await startRedis()
  atTheEnd(() => server.stop())
  const proxy = await faultProxy(server.port)
  atTheEnd(() => proxy.close())
  const client = aClient(proxy.through(server.url))
  client.options.disconnectTimeout = 10
  const duplicate = vi.spyOn(client, "duplicate")
  const store = aStore(client)
  await store.open()
  await hintsReceivedBy(store)
  const isResubscribing = new Promise<void>((resolve) => {
    // From here on, nothing on the new connection is answered.
    void proxy.loseRequest((bytes) => {
      if (bytes.includes("subscribe")) {
        proxy.blackhole()
        resolve()
      }
      return false
    })
  })
  proxy.cut()
  await isResubscribing

  const hasEnded = once(duplicate.mock.results[0]!.value as EventEmitter, "end")
  await store.close()
  await hasEnded
  // Node reports an unhandled rejection after the current turn of the event loop.
  await setImmediate()

  assert.deepEqual(unhandled, [])
})

function idsOf(clientList: unknown): string {
  return [...String(clientList).matchAll(/^id=(\d+)/gm)].map(([, id]) => id).join(" ")
}
