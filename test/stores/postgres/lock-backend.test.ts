import assert from "node:assert/strict"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { postgresLocks } from "belfry/postgres"
import pg from "pg"
import { beforeAll, describe, test } from "vitest"
import { createLocks, LOCK_LAWS, type LockBackend, type LockLab } from "../../../src/lock.ts"
import { createPostgresLocks } from "../../../src/stores/postgres/locks.ts"
import { poolFor } from "../../../src/stores/postgres/own-pool.ts"
import { inAnotherProcess } from "../../lock/another-process.ts"
import { freshDatabase, migratedDatabase } from "../../support/fresh-database.ts"
import { patientClock } from "../../support/patient-clock.ts"
import { query } from "../../support/postgres.ts"
import { aPsql, atTheEnd, PATIENCE_MS, rejectsWith, until } from "./scratch.ts"

/** On a real server, in real time. Each peer has its own connections, like another process. */

let url = ""

beforeAll(async () => {
  url = await migratedDatabase()
  // A long timeout, so that a busy machine does not end a wait.
  await query(url, `alter function belfry.acquire_lock set lock_timeout = ${PATIENCE_MS}`)
})

const lab: LockLab = {
  async openBackend() {
    await query(url, "truncate belfry.locks")
    return open()
  },
  openPeer: open,
  pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

async function open(): Promise<LockBackend> {
  const pool = await poolFor(url, 4, PATIENCE_MS)
  const backend = createPostgresLocks(
    async () => ({ pool, isOwned: true }),
    aboutSchema("belfry"),
    patientClock,
  )
  atTheEnd(() => backend.close())
  await backend.open()
  return backend
}

const aboutSchema = (schema: string) => ({ schema, deadlineMs: PATIENCE_MS, where: "the test's database" })

for (const { number, name, cases } of LOCK_LAWS) {
  describe(`Law ${number}, ${name}, of locks in PostgreSQL`, () => {
    for (const { title, prove } of cases) test(title, () => prove(lab))
  })
}

test("processes that increment a counter under a lock lose no increment, and their fences rise", async () => {
  await lab.openBackend()
  const folder = mkdtempSync(join(tmpdir(), "belfry-locks-"))
  atTheEnd(() => rmSync(folder, { recursive: true }))
  const file = join(folder, "count")

  const turnsByProcess = await Promise.all(["a", "b", "c"].map(() => inAnotherProcess("postgres", url, file)))

  const turns = turnsByProcess.flat().sort((a, b) => a.count - b.count)
  assert.deepEqual(
    turns.map(({ count }) => count),
    Array.from({ length: 60 }, (_, index) => index + 1),
  )
  for (const [index, { fence }] of turns.entries()) {
    assert.ok(index === 0 || fence > turns[index - 1]!.fence, `turn ${index}`)
  }
})

test("an acquire that waited gets a fence above all fences drawn meanwhile", async () => {
  const backend = await lab.openBackend()
  const psql = await aPsql(url)
  const slow = await aPsql(url)
  // A slow acquire: it holds the advisory lock of the name, and has not written yet.
  await slow.query("begin")
  await slow.query("select pg_advisory_xact_lock(hashtext('belfry.locks'), hashtext('invoices'))")

  const waiting = backend.acquire("invoices", "waiting", 60_000)
  await until(async () => {
    const { rows } = await psql.query("select 1 from pg_locks where locktype = 'advisory' and not granted")
    return rows.length === 1
  })
  const { rows } = await psql.query("select nextval('belfry.fences')::int as fence")
  await slow.query("commit")

  const answer = await waiting
  assert.ok(answer.outcome === "acquired" && answer.fence > rows[0].fence, JSON.stringify(answer))
})

test("opening deletes locks that expired over an hour ago, and keeps newer ones", async () => {
  const backend = await lab.openBackend()
  await backend.acquire("forgotten", "dead", 1)
  await backend.acquire("recent", "dead", 1)
  const psql = await aPsql(url)
  await psql.query(
    "update belfry.locks set expires_at = expires_at - interval '2 hours' where name = 'forgotten'",
  )

  await lab.openPeer()

  const { rows } = await psql.query("select name from belfry.locks")
  assert.deepEqual(rows, [{ name: "recent" }])
})

test("the user's own pool stays open after close, and each schema has its own locks", async () => {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  atTheEnd(() => pool.end())
  const locksIn = (schema: string) =>
    createLocks(
      createPostgresLocks(async () => ({ pool, isOwned: false }), aboutSchema(schema), patientClock),
    )
  const [here, there] = [locksIn("belfry"), locksIn("other")]

  const first = await here.acquire("invoices", { ttl: "10m" })
  const second = await there.acquire("invoices", { ttl: "10m" })
  assert.equal(await here.tryAcquire("invoices"), null)
  assert.deepEqual([await first.release(), await second.release()], [true, true])
  await Promise.all([here.close(), there.close()])

  assert.equal((await pool.query("select 1 as one")).rows[0].one, 1)
})

test("an unreachable server is a fault that names the address", async () => {
  const locks = createLocks(postgresLocks("postgres://localhost:1/nowhere"))

  await rejectsWith("BELFRY_STORE_UNAVAILABLE", locks.acquire("invoices"), /localhost:1\/nowhere/)
})

test("the guide's SQL refuses a lower fence", async () => {
  const guide = readFileSync(new URL("../../../docs/guides/locks.md", import.meta.url), "utf8")
  const [, sql] = /```sql\n([\s\S]*?)```/.exec(guide)!
  const psql = await aPsql(await freshDatabase())
  await psql.query(sql!)
  const update = sql!.split("\n").find((line) => line.startsWith("update"))!

  const counts: (number | null)[] = []
  for (const fence of ["33", "34", "35"])
    counts.push((await psql.query(update.replaceAll("34", fence))).rowCount)

  assert.deepEqual(counts, [0, 1, 1])
})
