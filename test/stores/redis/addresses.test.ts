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
    ["redis://localhost/shop", /names the database "shop", which is not a whole number/],
    ["redis://localhost/-1", /names the database "-1"/],
    ["redis://localhost/0/1", /names the database "0\/1"/],
    ["redis://localhost/0?prefx=shop", /has unknown parameters: prefx\. Write it like this: redis:\/\//],
    ["redis://localhost?db=1&tls=true", /has unknown parameters: db, tls/],
    ["http://localhost:6379", /begins with "http:\/\/"/],
    ["redis://local host", /can't be read/],
  ]
  test.each(REFUSED)("%s is refused when the store or the locks are created", (address, words) => {
    for (const open of [() => redis(address), () => redisLocks(address)]) {
      assert.throws(open, (error: Error & { code: string }) => {
        assert.equal(error.code, "BELFRY_STORE_UNFIT")
        assert.match(error.message, words)
        return true
      })
    }
  })

  test("is split into the prefix, which is ours, and the URL for the driver", () => {
    assert.deepEqual(addressOf("rediss://u:p@host:7000/3?family=6&prefix=shop"), {
      url: "rediss://u:p@host:7000/3?family=6",
      prefix: "shop",
    })
    assert.deepEqual(addressOf("localhost:6379"), { url: "localhost:6379", prefix: null })
  })

  test("may name a prefix, and the store uses its keys", async () => {
    const { url, prefix } = freshPrefix()
    const store = redis(`${url}/0?prefix=${prefix}`)
    atTheEnd(() => store.close())

    await store.enqueue([aRun({ id: "r" })])

    assert.equal(await aClient(url).hget(`{${prefix}}:runs:r`, "state"), "pending")
  })

  test("with an unknown parameter is reported by the command line", async () => {
    const { code, err } = await terminal().run("migrate", "--store", "redis://localhost/0?prefx=shop")

    assert.notEqual(code, 0)
    assert.match(err, /unknown parameters: prefx/)
  })
})

describe("a database that the server does not have", () => {
  const words = /refuses the database in Redis at .*\/999\. It says: ERR DB index is out of range\./

  test("is refused, and nothing is written to database 0", async () => {
    const { url, prefix } = freshPrefix()

    await rejectsWith("BELFRY_STORE_UNFIT", aStore(`${url}/999`, { prefix }).open(), words)
    await rejectsWith("BELFRY_STORE_UNFIT", redisLocks(`${url}/999`, { prefix }).open(), words)

    assert.deepEqual(await aClient(url).keys(`{${prefix}}*`), [])
  })

  test("is refused with the caller's own client", async () => {
    const { url, prefix } = freshPrefix()
    const client = new Redis(url, { db: 999 })
    client.on("error", () => undefined)
    atTheEnd(() => client.disconnect())

    await rejectsWith("BELFRY_STORE_UNFIT", aStore(client, { prefix }).open(), /DB index is out of range/)

    assert.deepEqual(await aClient(url).keys(`{${prefix}}*`), [])
  })

  test("is not replaced by database 0 when a server with fewer databases takes over", async () => {
    const [server, smaller] = [await startRedis(), await startRedis({ settings: ["--databases", "1"] })]
    for (const each of [server, smaller]) atTheEnd(() => each.stop())
    const address = await movingAddress(server.port)
    atTheEnd(() => address.close())
    const store = aStore(`${address.url}/3`)
    await store.enqueue([aRun()])

    address.moveTo(smaller.port)
    // This call may fail only at its deadline: the driver queues commands until it is connected.
    store.enqueue([aRun()]).catch(() => undefined)

    const client = aClient(smaller.url)
    await until(
      async () => (await refusedIn(client)) >= 5,
      "the driver selects the database at every reconnect",
    )
    assert.equal(await client.dbsize(), 0)
  })

  const refusedIn = async (client: Redis) =>
    Number(/cmdstat_select:.*failed_calls=(\d+)/.exec(await client.info("commandstats"))?.[1] ?? 0)

  test("that exists is used", async () => {
    const { url, prefix } = freshPrefix()
    const store = aStore(`${url}/3`, { prefix })

    await store.enqueue([aRun({ id: "r" })])

    const database3 = aClient(`${url}/3`)
    assert.equal(await database3.hget(`{${prefix}}:runs:r`, "state"), "pending")
    assert.deepEqual(await aClient(url).keys(`{${prefix}}*`), [])
    await database3.unlink(...(await database3.keys(`{${prefix}}*`)))
  })
})

describe("an address of another kind of server is reported:", () => {
  test("a web server", async () => {
    const port = await listening(createHttpServer((_request, response) => response.end("hello")))

    const opening = aStore(`redis://127.0.0.1:${port}`).open()

    await rejectsWith(
      "BELFRY_STORE_UNFIT",
      opening,
      /is not a Redis server.*begins with H, like that of a web server/,
    )
  })

  test("a server that sends a greeting first", async () => {
    const port = await listening(
      createServer((socket) => socket.on("error", () => undefined).write("SSH-2.0\r\n")),
    )

    const opening = aStore(`redis://127.0.0.1:${port}`).open()

    await rejectsWith("BELFRY_STORE_UNFIT", opening, /is not a Redis server.*begins with "S"/)
  })

  test("a server that closes the connection", async () => {
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
