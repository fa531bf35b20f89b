import assert from "node:assert/strict"
import pg from "pg"
import { afterAll, beforeAll, beforeEach, test } from "vitest"
import { aPlan, aSchedule } from "../../../src/store/laws/factories.ts"
import { created, scheduleById } from "../../../src/store/laws/steps.ts"
import type { Store } from "../../../src/store/store.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { makeStore } from "./scratch.ts"

/** Changes by SQL are in the journal. Belfry's own writes are not, unless they carry an entry. */

let psql: pg.Client
let store: Store

beforeAll(async () => {
  const url = await migratedDatabase()
  psql = new pg.Client(url)
  await psql.connect()
  store = await makeStore(url)
})
afterAll(() => psql.end())
beforeEach(() => psql.query("delete from belfry.schedules; delete from belfry.journal"))

async function journal() {
  const entries = await store.readJournal({}, { order: "oldest", after: null, limit: 100 })
  return entries.map(({ action, subjectId, before, after }) => ({ action, subjectId, before, after }))
}

test("an insert, an update and a delete by SQL are entries with the changed values", async () => {
  await psql.query("insert into belfry.schedules (id, task, cron) values ('a', 'report', '0 3 * * *')")
  await psql.query("update belfry.schedules set cron = '0 4 * * *', payload = '{\"n\": 1}' where id = 'a'")
  await psql.query("update belfry.schedules set cron = '0 4 * * *' where id = 'a'")
  await psql.query("delete from belfry.schedules where id = 'a'")

  const [inserted, updated, deleted, ...more] = await journal()
  assert.deepEqual(more, [], "an update that changes nothing has no entry")
  assert.deepEqual([inserted!.action, updated!.action, deleted!.action], ["created", "updated", "deleted"])
  assert.equal((inserted!.after as { cron: string }).cron, "0 3 * * *")
  assert.deepEqual(updated!.before, { cron: "0 3 * * *", payload: null })
  assert.deepEqual(updated!.after, { cron: "0 4 * * *", payload: { n: 1 } })
  assert.equal((deleted!.before as { cron: string }).cron, "0 4 * * *")
})

test("each row of a statement has its own entry, with the name of the session's user", async () => {
  await psql.query(
    "insert into belfry.schedules (id, task, cron) values ('a', 't', '@daily'), ('b', 't', '@daily')",
  )
  await psql.query("update belfry.schedules set enabled = false")
  await psql.query("delete from belfry.schedules")

  const entries = await store.readJournal(
    { subject: "schedule", subjectId: "b" },
    {
      ...{ order: "oldest", after: null, limit: 100 },
    },
  )
  const { rows } = await psql.query<{ name: string }>("select session_user as name")
  assert.deepEqual(
    entries.map(({ action, by }) => [action, by]),
    ["created", "updated", "deleted"].map((action) => [action, rows[0]!.name]),
  )
  assert.equal((await journal()).length, 6)
})

test("an insert that does nothing on a conflict has no entry, and one that becomes an update has an update's entry", async () => {
  const insert = "insert into belfry.schedules (id, task, cron) values ('a', 'report', '@daily')"
  await psql.query(insert)
  await psql.query(`${insert} on conflict do nothing`)
  await psql.query(
    `${insert.replace("@daily", "@hourly")} on conflict (id) do update set cron = excluded.cron`,
  )

  assert.deepEqual(
    (await journal()).map(({ action, after }) => [action, (after as { cron: string }).cron]),
    [
      ["created", "@daily"],
      ["updated", "@hourly"],
    ],
  )
})

test("the functions for operators add entries", async () => {
  await created(store, aSchedule({ id: "a", nextRunAt: Date.now() + 3_600_000 }))
  await psql.query("select belfry.pause('a', 'holiday')")
  await psql.query("select belfry.resume('a')")
  await psql.query("select belfry.reschedule('a', now() + interval '2 hours')")

  const entries = await journal()
  assert.deepEqual(
    entries.map(({ action }) => action),
    ["updated", "updated", "rescheduled"],
  )
  assert.equal((entries[0]!.after as { paused: { reason: string } }).paused.reason, "holiday")
  assert.ok(typeof (entries[2]!.after as { nextRunAt: number }).nextRunAt === "number")
})

test("Belfry's own writes, fires and removals have no entries", async () => {
  await psql.query("insert into belfry.schedules (id, task, cron) values ('a', 'report', '@daily')")
  await psql.query("delete from belfry.journal")
  const schedule = await scheduleById(store, "a")
  await store.fire([aPlan(schedule, { progress: { ...schedule, nextRunAt: null } })])
  const fired = await scheduleById(store, "a")
  await store.putSchedule({ ...fired, description: "new" }, fired.version)
  const changed = await scheduleById(store, "a")
  await store.fire([aPlan(changed, { progress: null })])

  assert.deepEqual(await journal(), [])
})

test("a write that is rolled back has no entry", async () => {
  await psql.query("begin")
  await psql.query("insert into belfry.schedules (id, task, cron) values ('a', 'report', '@daily')")
  await psql.query("rollback")

  assert.deepEqual(await journal(), [])
})
