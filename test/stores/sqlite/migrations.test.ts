import assert from "node:assert/strict"
import { BelfryError } from "belfry"
import { test } from "vitest"
import { aSchedule } from "../../../src/store/laws/factories.ts"
import { MIGRATIONS, migrate, schemaOf } from "../../../src/stores/sqlite/migrations.ts"
import { aDatabase, anOpenStore, aPath, aStore } from "./scratch.ts"

test("a new file is migrated to the newest schema", async () => {
  const path = aPath()

  await anOpenStore(path)

  assert.equal(schemaOf(await aDatabase(path)), MIGRATIONS.length)
})

test("opening a file again changes nothing in it", async () => {
  const path = aPath()
  const first = await anOpenStore(path)
  await first.putSchedule(aSchedule({ id: "kept" }), null)
  await first.close()
  const before = await schemaTextOf(path)

  const second = await anOpenStore(path)

  assert.deepEqual(
    (await second.findSchedules({}, { orderBy: "id", after: null, limit: 10 })).map(({ id }) => id),
    ["kept"],
  )
  assert.deepEqual(await schemaTextOf(path), before)
})

test("a file of a newer Belfry is refused, and not changed", async () => {
  const path = aPath()
  await (await anOpenStore(path)).close()
  const database = await aDatabase(path)
  database.exec("update belfry_meta set schema = 7")
  database.close()

  await assert.rejects(aStore(path).open(), (error) => {
    assert.ok(error instanceof BelfryError)
    assert.equal(error.code, "BELFRY_STORE_SCHEMA_NEWER")
    assert.match(error.message, /is at schema 7; this version of belfry knows \d\. Upgrade belfry/)
    return true
  })
  assert.equal(schemaOf(await aDatabase(path)), 7)
})

test("ten stores can open a new file at once", async () => {
  const path = aPath()
  const stores = Array.from({ length: 10 }, () => aStore(path))

  await Promise.all(stores.map((store) => store.open()))

  for (const store of stores) assert.ok((await store.now()) > 0)
})

test("each migration is applied once, in order, starting after the file's schema", async () => {
  const database = await aDatabase(":memory:")
  const steps = [MIGRATIONS[0]!, "create table second (a integer)", "create table third (a integer)"]

  migrate(database, ":memory:", steps.slice(0, 2))
  migrate(database, ":memory:", steps)
  migrate(database, ":memory:", steps)

  assert.equal(schemaOf(database), 3)
})

test("a migration that fails leaves the file unchanged", async () => {
  const path = aPath()
  await (await anOpenStore(path)).close()
  const database = await aDatabase(path)
  const steps = [...MIGRATIONS, "create table half (a integer); create table half (a integer)"]

  assert.throws(() => migrate(database, path, steps), /already exists/)

  assert.equal(schemaOf(database), MIGRATIONS.length)
  assert.equal(database.prepare("select 1 from sqlite_schema where name = 'half'").get(), undefined)
})

test("Belfry's tables don't conflict with an application's own tables", async () => {
  const path = aPath()
  const database = await aDatabase(path)
  database.exec("create table runs (mine text); insert into runs values ('kept')")

  await anOpenStore(path)

  assert.equal((database.prepare("select mine from runs").get() as { mine: string }).mine, "kept")
})

async function schemaTextOf(path: string): Promise<unknown> {
  const database = await aDatabase(path)
  const rows = database.prepare("select type, name, sql from sqlite_schema order by name").all()
  database.close()
  return rows
}
