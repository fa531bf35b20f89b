import assert from "node:assert/strict"
import { createServer } from "node:net"
import { inspect, postgres, postgresLocks } from "belfry/postgres"
import { describe, test } from "vitest"
import { addressOf } from "../../../src/stores/postgres/address.ts"
import { MIGRATIONS } from "../../../src/stores/postgres/migrations.ts"
import { terminal } from "../../cli/support.ts"
import { freshDatabase } from "../../support/fresh-database.ts"
import { atTheEnd, rejectsWith } from "./scratch.ts"

describe("an address", () => {
  test("may name the schema; all other parameters are for the driver", () => {
    const address = addressOf("postgres://bob:secret@db:5433/shop?sslmode=require&belfry_schema=jobs")

    assert.deepEqual(address, {
      url: "postgres://bob:secret@db:5433/shop?sslmode=require",
      schema: "jobs",
      where: "PostgreSQL at db:5433/shop",
    })
  })

  test.each([
    ["postgres://db/shop", "PostgreSQL at db/shop"],
    ["socket:/var/run/postgresql?db=shop", "PostgreSQL"],
    ["/var/run/postgresql shop", "PostgreSQL"],
    // Other programs may put their own parameters into the address, also one named schema.
    ["postgres://db/shop?schema=public&pgbouncer=true&connection_limit=1", "PostgreSQL at db/shop"],
  ])("without a schema is passed on unchanged: %s", (url, where) => {
    assert.deepEqual(addressOf(url), { url, schema: null, where })
  })

  test("with a schema creates the store and the locks in that schema only", async () => {
    const url = await freshDatabase()
    const store = postgres(`${url}?belfry_schema=jobs`)
    atTheEnd(() => store.close())
    const locks = postgresLocks(`${url}?belfry_schema=jobs`)
    atTheEnd(() => locks.close?.())

    await store.open()
    const held = await locks.acquire("name", "token", 600_000)

    assert.equal(held.outcome, "acquired")
    assert.equal((await inspect(`${url}?belfry_schema=jobs`)).schema.stored, MIGRATIONS.length)
    assert.equal((await inspect(url, "jobs")).schema.stored, MIGRATIONS.length)
    assert.equal((await inspect(url)).schema.stored, 0)
  })

  test("with a schema works on the command line too", async () => {
    const url = await freshDatabase()
    const shell = terminal({ env: { BELFRY_STORE: `${url}?belfry_schema=jobs` } })

    const created = await shell.run("schedule", "create", "hourly", "--task", "t", "--every", "1h")

    assert.equal(created.code, 0, created.err)
    assert.equal((await shell.run("schedule", "list", "-o", "name")).out, "hourly\n")
    assert.equal((await shell.run("schedule", "list", "--store", url)).code, 7)
  })
})

test.each(["4a", "49", "5b", "6c", "00"])(
  "a server that greets with %s is reported as not PostgreSQL",
  async (byte) => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined)
      socket.write(Buffer.from(`${byte}0000000a352e372e3333`, "hex"))
    })
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve)
    })
    atTheEnd(() => void server.close())
    const { port } = server.address() as { port: number }
    const store = postgres(`postgres://postgres@127.0.0.1:${port}/x`)
    atTheEnd(() => store.close())

    await rejectsWith("BELFRY_STORE_UNFIT", store.open(), /is not a PostgreSQL server/)
  },
)
