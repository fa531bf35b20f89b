import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { createScheduler, defineTask, silentLogger } from "belfry"
import pg from "pg"
import { beforeEach, describe, test } from "vitest"
import { succeed } from "../../../src/core/run/run.ts"
import { aClaim, aHeartbeat, aPlan, aRunOf, aSchedule, heldRun } from "../../../src/store/laws/factories.ts"
import { created, several } from "../../../src/store/laws/steps.ts"
import { MIGRATIONS, migrate, schemaOf } from "../../../src/stores/postgres/migrations.ts"
import { freshDatabase } from "../../support/fresh-database.ts"
import { anOpenStore, aPsql, aStore, atTheEnd, rejectsWith, until, waitersForLocks } from "./scratch.ts"

const ABOUT = { schema: "belfry", where: "the test's database" }

let url: string
let psql: pg.Client

beforeEach(async () => {
  url = await freshDatabase()
  psql = await aPsql(url)
})

test("opening an empty database migrates it to the newest schema", async () => {
  await anOpenStore(url)

  assert.equal(await schemaOf(psql, "belfry"), MIGRATIONS.length)
})

test("type parsers that the program sets for pg have no effect", async () => {
  const OIDS = [16, 20, 23, 25, 114, 701, 1184, 1700, 2205, 3802]
  const before = OIDS.map((oid) => pg.types.getTypeParser(oid))
  atTheEnd(() => {
    for (const [index, oid] of OIDS.entries()) pg.types.setTypeParser(oid, before[index]!)
  })
  for (const oid of OIDS) pg.types.setTypeParser(oid, (text) => ({ odd: text }))

  const store = await anOpenStore(url)
  await store.putSchedule(aSchedule({ id: "kept" }), null)
  const again = await anOpenStore(url)

  assert.equal((await again.findSchedules({}, { orderBy: "id", after: null, limit: 10 })).length, 1)
  assert.equal(await schemaOf(psql, "belfry"), MIGRATIONS.length)
})

test("opening again changes nothing", async () => {
  const first = await anOpenStore(url)
  await first.putSchedule(aSchedule({ id: "kept" }), null)
  const before = await catalogContents()

  const second = await anOpenStore(url)

  const kept = await second.findSchedules({}, { orderBy: "id", after: null, limit: 10 })
  assert.deepEqual(
    kept.map(({ id }) => id),
    ["kept"],
  )
  assert.deepEqual(await catalogContents(), before)
})

test("ten stores that open an empty database at once all succeed, and one of them migrates it", async () => {
  const stores = several(10, () => aStore(url))

  await Promise.all(stores.map((store) => store.open()))

  for (const store of stores) assert.ok((await store.now()) > 0)
  assert.equal((await psql.query("select from belfry.migrations")).rowCount, MIGRATIONS.length)
})

test("a database of a newer Belfry is refused and not changed", async () => {
  await anOpenStore(url)
  await psql.query("insert into belfry.migrations (number) values (7)")
  const before = await catalogContents()

  const words = /is at schema 7; this version of belfry knows \d\. Upgrade belfry before opening it\./
  await rejectsWith("BELFRY_STORE_SCHEMA_NEWER", aStore(url).open(), words)

  assert.deepEqual(await catalogContents(), before)
})

test("each migration is applied once, in order, from any earlier schema", async () => {
  const steps = [
    MIGRATIONS[0]!,
    "create table belfry.second (a integer)",
    "create table belfry.third (a integer)",
  ]

  await migrate(psql, ABOUT, steps.slice(0, 2))
  await migrate(psql, ABOUT, steps)
  await migrate(psql, ABOUT, steps)

  const { rows } = await psql.query("select number from belfry.migrations order by number")
  assert.deepEqual(
    rows.map(({ number }) => number),
    [1, 2, 3],
  )
})

test("a migration that fails leaves the database as it was, and can be tried again", async () => {
  await anOpenStore(url)
  const before = await catalogContents()
  const half = "create table belfry.half (a integer); create table belfry.half (a integer)"

  await assert.rejects(migrate(psql, ABOUT, [...MIGRATIONS, half]), /already exists/)

  assert.deepEqual(await catalogContents(), before)
  await migrate(psql, ABOUT, [...MIGRATIONS, "create table belfry.half (a integer)"])
  assert.equal(await schemaOf(psql, "belfry"), MIGRATIONS.length + 1)
})

test("a process killed during a migration leaves nothing behind, and the next process migrates from the start", async () => {
  await psql.query("select pg_advisory_lock(1)")
  const program = spawn(
    process.execPath,
    ["--import", "tsx", fileURLToPath(new URL("slow-migration.ts", import.meta.url)), url],
    { stdio: "inherit" },
  )
  const ended = new Promise((resolve) => program.once("close", resolve))
  atTheEnd(() => program.kill("SIGKILL"))
  await until(async () => (await waitersForLocks(psql)) === 1, "the migration is running")

  program.kill("SIGKILL")
  await ended
  assert.equal(await schemaOf(psql, "belfry"), 0, "no part of the migration is visible")
  // The server notices the kill only when its statement ends. Until then the next process waits.
  const opening = anOpenStore(url)
  await psql.query("select pg_advisory_unlock(1)")
  await opening

  assert.equal(await schemaOf(psql, "belfry"), MIGRATIONS.length)
  assert.equal((await psql.query("select to_regclass('belfry.half') as half")).rows[0].half, null)
})

test("a process of an older version continues to work on its open connections after a newer one migrated", async () => {
  const store = await anOpenStore(url, { connections: 1 })
  await performOccurrence("before")

  const newer = [
    "alter table belfry.schedules add column newer text default 'x'",
    "alter table belfry.runs add column newer jsonb",
    "create index runs_newer on belfry.runs (newer)",
  ]
  await migrate(psql, ABOUT, [...MIGRATIONS, newer.join(";")])

  await performOccurrence("after")
  assert.equal((await psql.query("select newer from belfry.schedules where id = 'after'")).rows[0].newer, "x")

  async function performOccurrence(id: string): Promise<void> {
    const schedule = await created(store, aSchedule({ id, nextRunAt: await store.now() }))
    const { due } = await store.dueSchedules({ limit: 10 })
    assert.deepEqual(
      due.map((each) => each.schedule),
      [schedule],
    )
    const progress = { ...schedule, nextRunAt: null }
    const plan = aPlan(schedule, { progress, runs: [aRunOf(id, { id: `${id}@1`, payload: { id } })] })
    assert.deepEqual(await store.fire([plan]), [{ outcome: "done", created: [`${id}@1`] }])
    const { runs } = await store.claim(aClaim())
    assert.deepEqual(
      runs.map((run) => [run.id, run.payload]),
      [[`${id}@1`, { id }]],
    )
    assert.deepEqual((await store.heartbeat(aHeartbeat({ held: runs.map((run) => heldRun(run)) }))).gone, [])
    const changes = runs.map((run) => succeed(run, { message: null, details: null }))
    assert.deepEqual(await store.transition(changes), [{ outcome: "done" }])
    assert.equal(
      (await store.findRuns({}, { orderBy: "createdAt", after: null, limit: 9 }))[0]!.id,
      `${id}@1`,
    )
  }
})

test("a scheduler of an older version misses nothing while a newer one migrates", async () => {
  const performed: string[] = []
  const tick = defineTask({ name: "tick", run: ({ run }) => void performed.push(run.id) })
  const scheduler = createScheduler({
    store: aStore(url),
    tasks: [tick],
    schedules: [tick.schedule("often", { cron: "* * * * * *", catchUp: "all", overlap: "allow" })],
    logger: silentLogger,
  })
  await scheduler.start()
  atTheEnd(() => scheduler.stop())
  await until(() => performed.length >= 1)

  // No other process can read the tables until the migration commits.
  const slow =
    "alter table belfry.schedules add newer text; alter table belfry.runs add newer text; select pg_sleep(1.2)"
  await migrate(psql, ABOUT, [...MIGRATIONS, slow])
  const before = performed.length
  await until(() => performed.length >= before + 3)
  await scheduler.stop()

  const seconds = performed.map((id) => Date.parse(id.split("@")[1]!) / 1_000).sort((a, b) => a - b)
  assert.deepEqual(
    seconds,
    seconds.map((_, index) => seconds[0]! + index),
    "every second has exactly one run",
  )
})

describe("Belfry's tables", () => {
  test("do not conflict with an application's tables", async () => {
    await psql.query("create table runs (mine text); insert into runs values ('kept')")

    await anOpenStore(url)

    assert.deepEqual((await psql.query("select mine from runs")).rows, [{ mine: "kept" }])
  })

  test("may be in an existing schema, beside other tables", async () => {
    await psql.query("create schema bells; create table bells.mine (a text)")

    await anOpenStore(url, { schema: "bells" })

    assert.equal(await schemaOf(psql, "bells"), MIGRATIONS.length)
    assert.equal(await schemaOf(psql, "belfry"), 0)
    assert.equal((await psql.query("select to_regnamespace('belfry') as it")).rows[0].it, null)
  })
})

/** Every table, column, index, function and row count of Belfry. */
async function catalogContents(): Promise<unknown> {
  const { rows } = await psql.query(`
    select c.relname as name, c.relkind::text as kind, c.reltuples::text as text, a.attname as part
    from pg_class as c
    left join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
    where c.relnamespace = 'belfry'::regnamespace
    union all
    select p.proname, 'function', p.prosrc, pg_get_function_arguments(p.oid)
    from pg_proc as p
    where p.pronamespace = 'belfry'::regnamespace
    union all
    select number::text, 'migration', applied_at::text, null
    from belfry.migrations
    order by 1, 2, 4`)
  return rows
}
