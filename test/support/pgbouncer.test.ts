import assert from "node:assert/strict"
import { afterAll, beforeAll, describe, inject, test } from "vitest"
import { freshDatabase } from "./fresh-database.ts"
import { type PgBouncer, startPgBouncer } from "./pgbouncer.ts"
import { connected, query } from "./postgres.ts"

describe("PgBouncer", () => {
  let bouncer: PgBouncer
  let url: string

  beforeAll(async () => {
    bouncer = await startPgBouncer(inject("postgres"), { poolSize: 1 })
    url = bouncer.through(await freshDatabase())
  })
  afterAll(() => bouncer?.stop())

  test("connects to the database of the URL", async () => {
    const [row] = await query<{ name: string }>(url, "select current_database() as name")

    assert.equal(`/${row!.name}`, new URL(url).pathname)
  })

  test("lends one connection to several clients, one transaction at a time", async () => {
    await using first = await connected(url)
    await using second = await connected(url)
    await first.query("begin")
    const order: string[] = []

    const waiting = second.query("select pg_backend_pid() as pid").then((answer) => {
      order.push("second")
      return answer.rows
    })
    const { rows } = await first.query("select pg_backend_pid() as pid, pg_sleep(0.1)")
    order.push("first")
    await first.query("commit")

    assert.equal((await waiting)[0].pid, rows[0].pid)
    assert.deepEqual(order, ["first", "second"])
  })

  test("shares session settings: a setting of one client is visible to another", async () => {
    await using first = await connected(url)
    await using second = await connected(url)

    await first.query("set search_path = elsewhere")

    assert.deepEqual((await second.query("show search_path")).rows, [{ search_path: "elsewhere" }])
  })
})
