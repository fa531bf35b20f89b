import assert from "node:assert/strict"
import { createServer as createHttpServer } from "node:http"
import { createServer, type Server, type Socket } from "node:net"
import { redis, redisLocks } from "belfry/redis"
import { Redis } from "ioredis"
import { describe, test } from "vitest"
import { aRun } from "../../../src/store/laws/factories.ts"
import { addressOf } from "../../../src/stores/redis/place.ts"
import { terminal } from "../../cli/support.ts"
import { startRedis } from "../../support/redis.ts"
import { freshPrefix } from "../../support/redis-prefix.ts"
import { freePort } from "../../support/servers.ts"
import { movingAddress } from "./moving-address.ts"
import { aClient, aStore, atTheEnd, rejectsWith, until } from "./scratch.ts"

describe("an address", () => {
  const REFUSED: readonly (readonly [string, RegExp])[] = [
    ["redis://localhost/shop", /names the database "shop", which is no whole number/],
    ["redis://localhost/-1", /names the database "-1"/],
    ["redis://localhost/0/1", /names the database "0\/1"/],
    ["redis://localhost/0?prefx=shop", /has unknown parameters: prefx\. Write it like this: redis:\/\//],
    ["redis://localhost?db=1&tls=true", /has unknown parameters: db, tls/],
    ["http://localhost:6379", /begins with "http:\/\/"/],
    ["redis://local host", /can't be read/],
  ]
  test.each(REFUSED)("%s is refused where it is written", (address, words) => {
    for (const open of [() => redis(address), () => redisLocks(address)]) {
      assert.throws(open, (error: Error & { code: string }) => {
        assert.equal(error.code, "BELFRY_STORE_UNFIT")
        assert.match(error.message, words)
        return true
      })
    }
  })

  test("names the prefix, which is ours, and leaves the rest to the driver", () => {
    assert.deepEqual(addressOf("rediss://u:p@host:7000/3?family=6&prefix=shop"), {
      url: "rediss://u:p@host:7000/3?family=6",
      prefix: "shop",
    })
    assert.deepEqual(addressOf("localhost:6379"), { url: "localhost:6379", prefix: null })
  })

  test("with a prefix is a store by itself, in the library as on the command line", async () => {
    const { url, prefix } = freshPrefix()
    const store = redis(`${url}/0?prefix=${prefix}`)
    atTheEnd(() => store.close())

    await store.enqueue([aRun({ id: "r" })])

    assert.equal(await aClient(url).hget(`{${prefix}}:runs:r`, "state"), "pending")
  })

  test("with a mistake is told on the command line", async () => {
    const { code, err } = await terminal().run("migrate", "--store", "redis://localhost/0?prefx=shop")

    assert.notEqual(code, 0)
    assert.match(err, /unknown parameters: prefx/)
  })
})

describe("a database that the server doesn't have", () => {
  const words =
    /doesn't give the database that Redis at .*\/999 names\. It says: ERR DB index is out of range\./

  test("is refused, and nothing is written to database 0", async () => {
    const { url, prefix } = freshPrefix()

    await rejectsWith("BELFRY_STORE_UNFIT", aStore(`${url}/999`, { prefix }).open(), words)
    await rejectsWith("BELFRY_STORE_UNFIT", redisLocks(`${url}/999`, { prefix }).open(), words)

    assert.deepEqual(await aClient(url).keys(`{${prefix}}*`), [])
  })

  test("is refused with a client of one's own", async () => {
    const { url, prefix } = freshPrefix()
    const client = new Redis(url, { db: 999 })
    client.on("error", () => undefined)
    atTheEnd(() => client.disconnect())

    await rejectsWith("BELFRY_STORE_UNFIT", aStore(client, { prefix }).open(), /DB index is out of range/)

    assert.deepEqual(await aClient(url).keys(`{${prefix}}*`), [])
  })

  test("is never taken for database 0 later either, when another server takes over that has fewer", async () => {
    const [server, smaller] = [await startRedis(), await startRedis({ settings: ["--databases", "1"] })]
    for (const each of [server, smaller]) atTheEnd(() => each.stop())
    const address = await movingAddress(server.port)
    atTheEnd(() => address.close())
    const store = aStore(`${address.url}/3`)
    await store.enqueue([aRun()])

    address.moveTo(smaller.port)
    // It may be answered only by its deadline: the driver keeps what was sent until it is connected.
    store.enqueue([aRun()]).catch(() => undefined)

    const client = aClient(smaller.url)
    await until(async () => (await refusedIn(client)) >= 5, "the database was asked for again and again")
    assert.equal(await client.dbsize(), 0)
  })

  const refusedIn = async (client: Redis) =>
    Number(/cmdstat_select:.*failed_calls=(\d+)/.exec(await client.info("commandstats"))?.[1] ?? 0)

  test("that it has is used", async () => {
    const { url, prefix } = freshPrefix()
    const store = aStore(`${url}/3`, { prefix })

    await store.enqueue([aRun({ id: "r" })])

    const there = aClient(`${url}/3`)
    assert.equal(await there.hget(`{${prefix}}:runs:r`, "state"), "pending")
    assert.deepEqual(await aClient(url).keys(`{${prefix}}*`), [])
    await there.unlink(...(await there.keys(`{${prefix}}*`)))
  })
})

describe("where something else answers than Redis, it says so:", () => {
  test("a web server", async () => {
    const port = await listening(createHttpServer((_request, response) => response.end("hello")))

    const opening = aStore(`redis://127.0.0.1:${port}`).open()

    await rejectsWith(
      "BELFRY_STORE_UNFIT",
      opening,
      /is no Redis server.*a web server, by its first letter H/,
    )
  })

  test("a server that speaks first", async () => {
    const port = await listening(
      createServer((socket) => socket.on("error", () => undefined).write("SSH-2.0\r\n")),
    )

    const opening = aStore(`redis://127.0.0.1:${port}`).open()

    await rejectsWith("BELFRY_STORE_UNFIT", opening, /is no Redis server.*begins with "S"/)
  })

  test("one that hangs up", async () => {
    const port = await listening(createServer((socket) => socket.on("error", () => undefined).destroy()))

    await rejectsWith("BELFRY_STORE_UNAVAILABLE", aStore(`redis://127.0.0.1:${port}`).open())
  })
})

async function listening(server: Server): Promise<number> {
  const port = await freePort()
  const sockets = new Set<Socket>()
  server.on("connection", (socket: Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  atTheEnd(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return port
}
