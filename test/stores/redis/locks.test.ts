import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { redisLocks } from "belfry/redis"
import { Redis } from "ioredis"
import { afterEach, describe, test } from "vitest"
import { BelfryError, createLocks, LOCK_LAWS, type LockBackend, type LockLab } from "../../../src/lock.ts"
import { inAnotherProcess } from "../../lock/another-process.ts"
import { faultProxy } from "../../support/fault-proxy.ts"
import { startRedis } from "../../support/redis.ts"
import { freshPrefix } from "../../support/redis-prefix.ts"

/** On a real server, in real time; each peer has a connection of its own, as another process would. */

const closings: (() => unknown)[] = []
let place = { url: "", prefix: "" }

const lab: LockLab = {
  async openBackend() {
    place = freshPrefix()
    return open()
  },
  openPeer: open,
  pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

async function open({ url, prefix } = place): Promise<LockBackend> {
  const backend = redisLocks(url, { prefix })
  closings.push(() => backend.close())
  await backend.open()
  return backend
}

function aClient(url = place.url): Redis {
  const client = new Redis(url)
  closings.push(() => client.disconnect())
  return client
}

async function aServer(options: Parameters<typeof startRedis>[0] = {}) {
  const server = await startRedis(options)
  closings.push(() => server.stop())
  return server
}

afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close()
})

async function fenceOf(backend: LockBackend, token: string, ttlMs = 60_000): Promise<number> {
  const answer = await backend.acquire("invoices", token, ttlMs)
  assert.ok(answer.outcome === "acquired", `${token}: ${JSON.stringify(answer)}`)
  return answer.fence
}

for (const { number, name, cases } of LOCK_LAWS) {
  describe(`Law ${number}, ${name}, of locks in Redis`, () => {
    for (const { title, prove } of cases) test(title, () => prove({ ...lab, openPeer: () => open() }))
  })
}

test("processes that count under a lock lose no count, and their fences rise", async () => {
  await lab.openBackend()
  const folder = mkdtempSync(join(tmpdir(), "belfry-locks-"))
  closings.push(() => rmSync(folder, { recursive: true }))

  const said = await Promise.all(
    ["a", "b", "c"].map(() => inAnotherProcess("redis", place.url, join(folder, "count"), place.prefix)),
  )

  const turns = said.flat().sort((a, b) => a.count - b.count)
  assert.deepEqual(
    turns.map(({ count }) => count),
    Array.from({ length: 60 }, (_, index) => index + 1),
  )
  for (const [index, { fence }] of turns.entries()) {
    assert.ok(index === 0 || fence > turns[index - 1]!.fence, `turn ${index}`)
  }
})

test("a lock is one key that ends by itself; the count of fences doesn't", async () => {
  const backend = await lab.openBackend()
  const client = aClient()

  await fenceOf(backend, "first", 60_000)

  const keys = await client.keys(`{${place.prefix}}*`)
  assert.deepEqual(keys.sort(), [`{${place.prefix}}:fences`, `{${place.prefix}}:locks:invoices`])
  assert.ok((await client.pttl(`{${place.prefix}}:locks:invoices`)) > 50_000)
  assert.equal(await client.pttl(`{${place.prefix}}:fences`), -1)
})

test("a server that forgets the scripts is told them again", async () => {
  const server = await aServer()
  const backend = await open({ url: server.url, prefix: "belfry" })
  const first = await fenceOf(backend, "first")
  await aClient(server.url).script("FLUSH")

  assert.equal(await fenceOf(backend, "first"), first)
  assert.equal(await backend.release("invoices", "first"), true)
})

test("fences rise also after the server has lost everything", async () => {
  const server = await aServer()
  const backend = await open({ url: server.url, prefix: "belfry" })
  const first = await fenceOf(backend, "first")
  await aClient(server.url).flushall()

  assert.ok((await fenceOf(backend, "second")) > first)
  assert.equal(await backend.extend("invoices", "first", 60_000), false)
})

test("a large fence is written in full", async () => {
  const backend = await lab.openBackend()
  await aClient().set(`{${place.prefix}}:fences`, String(4_503_599_627_370_495))

  assert.equal(await fenceOf(backend, "first"), 4_503_599_627_370_496)
  assert.equal(await fenceOf(backend, "first"), 4_503_599_627_370_496)
})

test("a lock outlives a server that is killed and keeps its data", async () => {
  const server = await aServer({ isKept: true })
  const backend = await open({ url: server.url, prefix: "belfry" })
  const locks = createLocks(backend)
  const lock = await locks.acquire("invoices", { ttl: "1m" })

  await server.kill()
  await server.restart()

  assert.equal(
    await createLocks(await open({ url: server.url, prefix: "belfry" })).tryAcquire("invoices"),
    null,
  )
  assert.equal(await lock.release(), true)
})

test("a server that falls silent is a fault within five seconds", async () => {
  const server = await aServer()
  const proxy = await faultProxy(server.port)
  closings.push(() => proxy.close())
  const backend = await open({ url: proxy.through(server.url), prefix: "belfry" })
  proxy.blackhole()
  const began = performance.now()

  const error = await backend.acquire("invoices", "first", 60_000).catch((error) => error)

  assert.ok(error instanceof BelfryError && error.code === "BELFRY_STORE_UNAVAILABLE", String(error))
  const tookMs = performance.now() - began
  assert.ok(tookMs < 5_500, `it took ${tookMs} ms`)
})

test("a server that isn't there is a fault that says where, at once", async () => {
  const locks = createLocks(redisLocks("redis://127.0.0.1:1"))
  closings.push(() => locks.close())

  const error = await locks.acquire("invoices").catch((error) => error)

  assert.ok(error instanceof BelfryError && error.code === "BELFRY_STORE_UNAVAILABLE", String(error))
  assert.match(error.message, /127\.0\.0\.1:1/)
})

test("a client of the user's stays theirs", async () => {
  place = freshPrefix()
  const client = aClient()
  const locks = createLocks(redisLocks(client, { prefix: place.prefix }))

  assert.equal(await locks.using("invoices", {}, () => "done"), "done")
  await locks.close()

  assert.equal(await client.ping(), "PONG")
})

test("a prefix that is no plain name is refused", () => {
  assert.throws(() => redisLocks("redis://localhost", { prefix: "a{b" }), /plain name/)
})
