import assert from "node:assert/strict"
import { redis } from "belfry/redis"
import { Redis } from "ioredis"
import { afterAll, beforeAll, describe, test } from "vitest"
import { aRun } from "../../../src/store/laws/factories.ts"
import { countRuns } from "../../../src/store/laws/steps.ts"
import { type RedisServer, startRedis } from "../../support/redis.ts"
import { freshPrefix } from "../../support/redis-prefix.ts"
import { aClient, aFreshStore, aStore, atTheEnd, heardBy, openLocks, rejectsWith, until } from "./scratch.ts"

/** On a server of its own: its settings are changed. */
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
  test("a server that may throw away keys is refused, by the name of the setting", async () => {
    await admin.config("SET", "maxmemory-policy", "allkeys-lru")
    atTheEnd(() => admin.config("SET", "maxmemory-policy", "noeviction"))
    const store = aStoreAt(server.url)

    await rejectsWith("BELFRY_STORE_UNFIT", store.open(), /maxmemory-policy "allkeys-lru".*noeviction/)

    await admin.config("SET", "maxmemory-policy", "noeviction")
    await store.open()
  })

  test("where the setting may not be read, there is a warning", async () => {
    const warnings: string[] = []
    const store = aStoreAt(server.url.replace("redis://", "redis://plain:secret@"), warnings)

    await store.open()

    assert.equal(warnings.length, 1)
    assert.match(warnings[0]!, /maxmemory-policy/)
    assert.doesNotMatch(warnings[0]!, /secret/)
  })

  test("a client that gives numbers as text is refused, by the name of the option", async () => {
    const client = new Redis(server.url, { stringNumbers: true })
    atTheEnd(() => client.disconnect())

    await rejectsWith("BELFRY_STORE_UNFIT", aStore(client).open(), /stringNumbers/)
    await rejectsWith("BELFRY_STORE_UNFIT", openLocks(client), /stringNumbers/)
  })

  test("a wrong password is told, without it", async () => {
    const store = aStoreAt(server.url.replace("redis://", "redis://plain:wrong@"))

    const error = await rejectsWith("BELFRY_STORE_UNFIT", store.open(), /user or password/)

    assert.doesNotMatch(error.message, /:wrong@/)
  })

  test("keys of a newer schema are refused and left alone", async () => {
    await admin.hset("{belfry}:schema", "version", 99)
    atTheEnd(() => admin.del("{belfry}:schema"))

    await rejectsWith("BELFRY_STORE_SCHEMA_NEWER", aStoreAt(server.url).open(), /schema 99/)

    assert.equal(await admin.hget("{belfry}:schema", "version"), "99")
  })

  test("keys from before the first release are refused and left alone", async () => {
    await admin.hset("{belfry}:schema", "version", 1)
    atTheEnd(() => admin.del("{belfry}:schema"))

    await rejectsWith("BELFRY_STORE_UNFIT", aStoreAt(server.url).open(), /schema 1, from before/)

    assert.equal(await admin.hget("{belfry}:schema", "version"), "1")
  })

  test("an address where nothing answers is a fault, and may be tried again", async () => {
    const store = aStoreAt("redis://127.0.0.1:1")

    await rejectsWith("BELFRY_STORE_UNAVAILABLE", store.open())
    await rejectsWith("BELFRY_STORE_UNAVAILABLE", store.now())
  })

  test("a prefix that isn't a plain name is refused at once", () => {
    for (const prefix of ["", "a b", "{a}b", "a*", "{}"]) {
      assert.throws(() => redis(server.url, { prefix }), { code: "BELFRY_STORE_UNFIT" }, prefix)
    }
  })
})

describe("refusals of the server", () => {
  test("a replica can't be written to", async () => {
    const store = aStoreAt(server.url)
    await store.open()
    await admin.replicaof("127.0.0.1", 1)
    atTheEnd(() => admin.replicaof("NO", "ONE"))

    await rejectsWith("BELFRY_STORE_READ_ONLY", store.enqueue([aRun()]), /replica/)
  })

  test("a server without memory left refuses the whole of a call", async () => {
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

describe("a client that is somebody else's", () => {
  test("is used, and goes on when the store is closed", async () => {
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

  test("may put a prefix of its own before ours, also for hints", async () => {
    const { url, prefix } = freshPrefix()
    const client = new Redis(url, { keyPrefix: "app:" })
    atTheEnd(() => client.disconnect())
    const store = aStore(client, { prefix })
    const heard = await heardBy(store)

    await store.enqueue([aRun({ id: "r" })])

    await until(() => heard.includes("runs"), "it is heard of")
    assert.equal(await aClient(url).hget(`app:{${prefix}}:runs:r`, "state"), "pending")
    await aClient(url).unlink(...(await aClient(url).keys(`app:{${prefix}}*`)))
  })
})

test("a server that was told to forget its scripts learns them again", async () => {
  const { store, client } = await aFreshStore()
  await store.enqueue([aRun({ id: "before" })])
  await client.script("FLUSH")

  await store.enqueue([aRun({ id: "after" })])

  assert.equal((await countRuns(store)).pending, 2)
})

test("a server that isn't there is named with the reason, in a word that can be looked up", async () => {
  const words = /^Redis at 127\.0\.0\.1:1 can't be reached: .*ECONNREFUSED.*[^.]\.$/

  await rejectsWith("BELFRY_STORE_UNAVAILABLE", aStore("redis://127.0.0.1:1").open(), words)
})
