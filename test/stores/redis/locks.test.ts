import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { redisLocks } from "belfry/redis"
import { describe, test } from "vitest"
import { createLocks, LOCK_LAWS, type LockBackend, type LockLab } from "../../../src/lock.ts"
import { inAnotherProcess } from "../../lock/another-process.ts"
import { advance, aVirtualClock } from "../../lock/lab.ts"
import { faultProxy } from "../../support/fault-proxy.ts"
import { startRedis } from "../../support/redis.ts"
import { freshPrefix } from "../../support/redis-prefix.ts"
import { aClient, atTheEnd, openLocks, rejectsWith } from "./scratch.ts"

/** On a real server, in real time. Each peer has its own connection, like another process. */

let place = { url: "", prefix: "" }

const lab: LockLab = {
  async openBackend() {
    place = freshPrefix()
    return open()
  },
  openPeer: open,
  pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

function open(): Promise<LockBackend> {
  return openLocks(place.url, place)
}

async function aServer(options: Parameters<typeof startRedis>[0] = {}) {
  const server = await startRedis(options)
  atTheEnd(() => server.stop())
  return server
}

async function fenceOf(backend: LockBackend, token: string, ttlMs = 600_000): Promise<number> {
  const answer = await backend.acquire("invoices", token, ttlMs)
  assert.ok(answer.outcome === "acquired", `${token}: ${JSON.stringify(answer)}`)
  return answer.fence
}

for (const { number, name, cases } of LOCK_LAWS) {
  describe(`Law ${number}, ${name}, of locks in Redis`, () => {
    for (const { title, prove } of cases) test(title, () => prove(lab))
  })
}

test("processes that increment a counter under a lock lose no increment, and their fences rise", async () => {
  await lab.openBackend()
  const folder = mkdtempSync(join(tmpdir(), "belfry-locks-"))
  atTheEnd(() => rmSync(folder, { recursive: true }))

  const turnsByProcess = await Promise.all(
    ["a", "b", "c"].map(() => inAnotherProcess("redis", place.url, join(folder, "count"), place.prefix)),
  )

  const turns = turnsByProcess.flat().sort((a, b) => a.count - b.count)
  assert.deepEqual(
    turns.map(({ count }) => count),
    Array.from({ length: 60 }, (_, index) => index + 1),
  )
  for (const [index, { fence }] of turns.entries()) {
    assert.ok(index === 0 || fence > turns[index - 1]!.fence, `turn ${index}`)
  }
})

test("a lock is one key that expires; the fence counter never expires", async () => {
  const backend = await lab.openBackend()
  const client = aClient(place.url)

  await fenceOf(backend, "first", 600_000)

  const keys = await client.keys(`{${place.prefix}}*`)
  assert.deepEqual(keys.sort(), [`{${place.prefix}}:fences`, `{${place.prefix}}:locks:invoices`])
  assert.ok((await client.pttl(`{${place.prefix}}:locks:invoices`)) > 300_000)
  assert.equal(await client.pttl(`{${place.prefix}}:fences`), -1)
})

test("scripts are sent again after SCRIPT FLUSH", async () => {
  const server = await aServer()
  const backend = await openLocks(server.url)
  const first = await fenceOf(backend, "first")
  await aClient(server.url).script("FLUSH")

  assert.equal(await fenceOf(backend, "first"), first)
  assert.equal(await backend.release("invoices", "first"), true)
})

test("fences still rise after the server has lost all data", async () => {
  const server = await aServer()
  const backend = await openLocks(server.url)
  const first = await fenceOf(backend, "first")
  await aClient(server.url).flushall()

  assert.ok((await fenceOf(backend, "second")) > first)
  assert.equal(await backend.extend("invoices", "first", 60_000), false)
})

test("a large fence is written in full", async () => {
  const backend = await lab.openBackend()
  await aClient(place.url).set(`{${place.prefix}}:fences`, String(4_503_599_627_370_495))

  assert.equal(await fenceOf(backend, "first"), 4_503_599_627_370_496)
  assert.equal(await fenceOf(backend, "first"), 4_503_599_627_370_496)
})

test("a lock survives a crash of a server that keeps its data", async () => {
  const server = await aServer({ isKept: true })
  const backend = await openLocks(server.url)
  const locks = createLocks(backend)
  const lock = await locks.acquire("invoices", { ttl: "1h" })

  await server.kill()
  await server.restart()

  assert.equal(await createLocks(await openLocks(server.url)).tryAcquire("invoices"), null)
  assert.equal(await lock.release(), true)
})

test("a server that stops answering is a fault after five seconds", async () => {
  const server = await aServer()
  const proxy = await faultProxy(server.port)
  atTheEnd(() => proxy.close())
  const clock = aVirtualClock()
  const backend = await openLocks(proxy.through(server.url), { clock })
  proxy.blackhole()

  const refused = rejectsWith("BELFRY_STORE_UNAVAILABLE", backend.acquire("invoices", "first", 60_000))
  await advance(clock, 5_000)

  await refused
})

test("an unreachable server is an immediate fault that names the address", async () => {
  const locks = createLocks(redisLocks("redis://127.0.0.1:1"))
  atTheEnd(() => locks.close())

  await rejectsWith("BELFRY_STORE_UNAVAILABLE", locks.acquire("invoices"), /127\.0\.0\.1:1/)
})

test("the user's own client stays connected after close", async () => {
  place = freshPrefix()
  const client = aClient(place.url)
  const backend = await openLocks(client, place)
  const locks = createLocks(backend)

  assert.equal(await locks.using("invoices", { ttl: "1h" }, () => "done"), "done")
  await locks.close()

  assert.equal(await client.ping(), "PONG")
})

test("a prefix that is not a plain name is refused", () => {
  assert.throws(() => redisLocks("redis://localhost", { prefix: "a{b" }), /plain name/)
})
