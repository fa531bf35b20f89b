import assert from "node:assert/strict"
import { afterEach, beforeEach, inject, test, vi } from "vitest"
import { type FaultProxy, faultProxy } from "./fault-proxy.ts"
import { freshDatabase } from "./fresh-database.ts"
import { connected, query } from "./postgres.ts"

/** Network faults between PostgreSQL and its driver. */

let proxy: FaultProxy
let database: string

beforeEach(async () => {
  proxy = await faultProxy(inject("postgres").port)
  database = await freshDatabase()
  await query(database, "create table bells (name text)")
})

afterEach(() => proxy.close())

test("a statement whose answer is lost has taken full effect", async () => {
  await using client = await connected(proxy.through(database))
  const lost = proxy.loseAnswer("insert")

  // The answer comes in many parts, the first of them long before the server commits.
  const many = "insert into bells select 'many' from generate_series(1, 50000) returning name"
  await assert.rejects(client.query(many))

  await lost
  assert.equal(await countBells(), 50_000)
})

test("a commit whose answer is lost has happened", async () => {
  await using client = await connected(proxy.through(database))
  await client.query("begin")
  await client.query("insert into bells values ($1)", ["great"])
  const lost = proxy.loseAnswer("commit")

  await assert.rejects(client.query("commit"))

  await lost
  assert.equal(await countBells(), 1)
})

test("a commit whose request is lost hasn't happened", async () => {
  await using client = await connected(proxy.through(database))
  await client.query("begin")
  await client.query("insert into bells values ($1)", ["great"])
  const lost = proxy.loseRequest("commit")

  await assert.rejects(client.query("commit"))

  await lost
  assert.equal(await countBells(), 0)
})

test("a client behind a black hole keeps its locks until its connection breaks", async () => {
  await query(database, "insert into bells values ('great')")
  await using client = await connected(proxy.through(database))
  await client.query("begin")
  await client.query("select name from bells for update")
  const free = "select name from bells for update skip locked"

  proxy.blackhole()
  const leaving = client.end()
  assert.deepEqual(await query(database, free), [])

  await proxy.mend()
  await leaving
  await vi.waitFor(async () => assert.equal((await query(database, free)).length, 1), 120_000)
})

async function countBells(): Promise<number> {
  const [row] = await query<{ count: number }>(database, "select count(*)::int as count from bells")
  return row!.count
}
