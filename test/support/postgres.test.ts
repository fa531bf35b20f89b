import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { dirname } from "node:path"
import { afterAll, beforeAll, describe, test } from "vitest"
import { freshDatabase } from "./fresh-database.ts"
import { connected, type Postgres, query, startPostgres } from "./postgres.ts"
import { goneAfter, isAlive } from "./processes.ts"
import { sweepServers } from "./server-leftovers.ts"

test("each fresh database is empty and separate", async () => {
  const [mine, yours] = [await freshDatabase(), await freshDatabase()]

  await query(mine, "create table bells (name text)")

  const tables = "select from pg_tables where schemaname = 'public'"
  assert.equal((await query(mine, tables)).length, 1)
  assert.equal((await query(yours, tables)).length, 0)
})

test("a database orders texts by their bytes, or by a locale", async () => {
  const [bytes, english] = [await freshDatabase(), await freshDatabase({ locale: "en-US" })]

  const sql = "select 'a' < 'B' as is_less"
  assert.deepEqual(await query(bytes, sql), [{ is_less: false }])
  assert.deepEqual(await query(english, sql), [{ is_less: true }])
})

describe("a separate server", () => {
  let postgres: Postgres
  let database: string

  beforeAll(async () => {
    postgres = await startPostgres({ fsync: true })
    database = await postgres.freshDatabase()
    await query(database, "create table bells (name text)")
  })
  afterAll(() => postgres.stop())

  test("keeps committed rows, and no others, when it is killed", async () => {
    await using client = await connected(database)
    await client.query("insert into bells values ('committed')")
    await client.query("begin")
    await client.query("insert into bells values ('open')")

    await postgres.kill()
    await assert.rejects(query(database, "select 1"), { code: "ECONNREFUSED" })
    await postgres.restart()

    assert.deepEqual(await query(database, "select name from bells"), [{ name: "committed" }])
  })

  test("keeps its port and its databases when it restarts, but no connection", async () => {
    await using client = await connected(database)

    await postgres.restart()

    await assert.rejects(client.query("select 1"))
    await query(database, "select name from bells")
  })

  test("has fsync on if it was started with it", async () => {
    assert.deepEqual(await query(postgres.url, "show fsync"), [{ fsync: "on" }])
  })
})

test("a stopped server leaves no process and no folder, even if it was killed before", async () => {
  const servers = await Promise.all([startPostgres(), startPostgres()])
  const pids = servers.map(({ pid }) => pid!)
  const folders = await Promise.all(servers.map(({ url }) => folderOf(url)))

  await servers[0].kill()
  for (const server of servers) await server.stop()

  assert.deepEqual(pids.map(isAlive), [false, false])
  assert.deepEqual(folders.map(existsSync), [false, false])
})

test("sweepServers removes the server of a test process that died", async () => {
  const { pid, url } = await abandonedServer()
  const folder = await folderOf(url)

  await sweepServers()

  await goneAfter([pid])
  assert.equal(existsSync(folder), false)
})

async function folderOf(url: string): Promise<string> {
  const [row] = await query<{ data_directory: string }>(url, "show data_directory")
  return dirname(row!.data_directory)
}

/** A server that was started by a process which was killed before it could stop the server. */
async function abandonedServer(): Promise<{ pid: number; url: string }> {
  const program = `
    import { startPostgres } from ${JSON.stringify(new URL("./postgres.ts", import.meta.url).href)}
    const { pid, url } = await startPostgres()
    console.log(JSON.stringify({ pid, url }))
    setInterval(() => undefined, 1_000)
  `
  const options = ["--import", "tsx", "--input-type=module", "--eval", program]
  const owner = spawn(process.execPath, options, { stdio: ["ignore", "pipe", "inherit"] })
  const [line] = await once(owner.stdout, "data")
  owner.kill("SIGKILL")
  await once(owner, "exit")
  return JSON.parse(String(line))
}
