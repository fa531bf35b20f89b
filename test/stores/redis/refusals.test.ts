import assert from "node:assert/strict"
import { redis } from "belfry/redis"
import { Redis } from "ioredis"
import { afterAll, beforeAll, describe, test } from "vitest"
import { aRun } from "../../../src/store/laws/factories.ts"
import { countRuns } from "../../../src/store/laws/steps.ts"
import { type RedisServer, startRedis } from "../../support/redis.ts"
import { freshPrefix } from "../../support/redis-prefix.ts"
import {
  aClient,
  aFreshStore,
  aStore,
  atTheEnd,
  hintsReceivedBy,
  openLocks,
  rejectsWith,
  until,
} from "./scratch.ts"

/** A server of its own, because the tests change its settings. */
let server: RedisServer
let admin: Redis

beforeAll(async () => {
  server = await startRedis()
  admin = new Redis(server.url)
  await admin.call("ACL", "SETUSER", "plain", "on", ">secret", "~*", "&*", "+@all", "-config")
})

afterAll(async () => {
  admin.disconnect()
  await server.stop()
})

function aStoreAt(url: string, warnings: string[] = []) {
  return aStore(url, { onWarning: (message) => warnings.push(message) })
}

describe("opening", () => {
  test("a server that may evict keys is refused, and the error names the setting", async () => {
    await admin.config("SET", "maxmemory-policy", "allkeys-lru")
    atTheEnd(() => admin.config("SET", "maxmemory-policy", "noeviction"))
    const store = aStoreAt(server.url)

    await rejectsWith("BELFRY_STORE_UNFIT", store.open(), /maxmemory-policy "allkeys-lru".*noeviction/)

    await admin.config("SET", "maxmemory-policy", "noeviction")
    await store.open()
  })

  test("a server that forbids reading the setting causes a warning", async () => {
    const warnings: string[] = []
    const store = aStoreAt(server.url.replace("redis://", "redis://plain:secret@"), warnings)

    await store.open()

    assert.equal(warnings.length, 1)
    assert.match(warnings[0]!, /maxmemory-policy/)
    assert.doesNotMatch(warnings[0]!, /secret/)
  })

  test("a client that returns numbers as text is refused, and the error names the option", async () => {
    const client = new Redis(server.url, { stringNumbers: true })
    atTheEnd(() => client.disconnect())

    await rejectsWith("BELFRY_STORE_UNFIT", aStore(client).open(), /stringNumbers/)
    await rejectsWith("BELFRY_STORE_UNFIT", openLocks(client), /stringNumbers/)
  })

  test("a wrong password is reported without the password", async () => {
    const store = aStoreAt(server.url.replace("redis://", "redis://plain:wrong@"))

    const error = await rejectsWith("BELFRY_STORE_UNFIT", store.open(), /user or password/)

    assert.doesNotMatch(error.message, /:wrong@/)
  })

  test("keys of a newer schema are refused and not changed", async () => {
    await admin.hset("{belfry}:schema", "version", 99)
    atTheEnd(() => admin.del("{belfry}:schema"))

    await rejectsWith("BELFRY_STORE_SCHEMA_NEWER", aStoreAt(server.url).open(), /schema 99/)

    assert.equal(await admin.hget("{belfry}:schema", "version"), "99")
  })

  test("keys from before the first release are refused and not changed", async () => {
    await admin.hset("{belfry}:schema", "version", 1)
    atTheEnd(() => admin.del("{belfry}:schema"))

    await rejectsWith("BELFRY_STORE_UNFIT", aStoreAt(server.url).open(), /schema 1, from before/)

    assert.equal(await admin.hget("{belfry}:schema", "version"), "1")
  })

  test("an unreachable server is a fault, and a later call tries again", async () => {
    const store = aStoreAt("redis://127.0.0.1:1")

    await rejectsWith("BELFRY_STORE_UNAVAILABLE", store.open())
    await rejectsWith("BELFRY_STORE_UNAVAILABLE", store.now())
  })

  test("a prefix that is not a plain name is refused when the store is created", () => {
    for (const prefix of ["", "a b", "{a}b", "a*", "{}"]) {
      assert.throws(() => redis(server.url, { prefix }), { code: "BELFRY_STORE_UNFIT" }, prefix)
    }
  })
})

describe("errors of the server", () => {
  test("a write to a replica fails", async () => {
    const store = aStoreAt(server.url)
    await store.open()
    await admin.replicaof("127.0.0.1", 1)
    atTheEnd(() => admin.replicaof("NO", "ONE"))

    await rejectsWith("BELFRY_STORE_READ_ONLY", store.enqueue([aRun()]), /replica/)
  })

  test("a server that is out of memory refuses the whole call", async () => {
    const store = aStoreAt(server.url)
    await store.open()
    await admin.config("SET", "maxmemory", "1mb")
    atTheEnd(() => admin.config("SET", "maxmemory", "0"))

    await rejectsWith("BELFRY_STORE_FULL", store.enqueue([aRun({ id: "r" })]), /memory/)

    await admin.config("SET", "maxmemory", "0")
    assert.equal((await countRuns(store)).pending, 0)
    assert.deepEqual(await store.enqueue([aRun({ id: "r" })]), [{ outcome: "created", runId: "r" }])
  })
})

describe("the caller's own client", () => {
  test("is used, and stays connected when the store is closed", async () => {
    const { url, prefix } = freshPrefix()
    const client = aClient(url)
    const store = aStore(client, { prefix })
    await store.open()
    await store.listen(() => undefined)
    await store.enqueue([aRun()])

    await store.close()

    assert.equal(await client.ping(), "PONG")
    await rejectsWith("BELFRY_STORE_CLOSED", store.now())
    assert.equal(client.listenerCount("error"), 1)
  })

  test("may have a key prefix, which is put before ours, also for hints", async () => {
    const { url, prefix } = freshPrefix()
    const client = new Redis(url, { keyPrefix: "app:" })
    atTheEnd(() => client.disconnect())
    const store = aStore(client, { prefix })
    const received = await hintsReceivedBy(store)

    await store.enqueue([aRun({ id: "r" })])

    await until(() => received.includes("runs"), "the hint arrives")
    assert.equal(await aClient(url).hget(`app:{${prefix}}:runs:r`, "state"), "pending")
    await aClient(url).unlink(...(await aClient(url).keys(`app:{${prefix}}*`)))
  })
})

test("scripts are sent again after SCRIPT FLUSH", async () => {
  const { store, client } = await aFreshStore()
  await store.enqueue([aRun({ id: "before" })])
  await client.script("FLUSH")

  await store.enqueue([aRun({ id: "after" })])

  assert.equal((await countRuns(store)).pending, 2)
})

test("an unreachable server is reported with its address and the system's error code", async () => {
  const words = /^Redis at 127\.0\.0\.1:1 can't be reached: .*ECONNREFUSED.*[^.]\.$/

  await rejectsWith("BELFRY_STORE_UNAVAILABLE", aStore("redis://127.0.0.1:1").open(), words)
})
