import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import pg from "pg"
import { afterAll, beforeAll, describe, test } from "vitest"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { makeStore } from "./scratch.ts"
import { SqlHarness } from "./sql-harness.ts"

/** Three roles with exactly the grants of the guide: each can run its own statements, and no others. */

const GUIDE = readFileSync(new URL("../../../docs/guides/postgres.md", import.meta.url), "utf8")
const GRANTS = /<!-- grants -->\s*```sql\n([\s\S]*?)```/.exec(GUIDE)![1]!

const ROLES = ["belfry_viewer", "belfry_operator", "belfry_author"] as const
type Role = (typeof ROLES)[number]

let admin: pg.Client
let url = ""
const clients = new Map<Role, pg.Client>()

beforeAll(async () => {
  url = await migratedDatabase()
  admin = new pg.Client(url)
  await admin.connect()
  await dropRoles()
  await admin.query(GRANTS)
  for (const role of ROLES) {
    await admin.query(`alter role ${role} login password 'secret'`)
    const own = new URL(url)
    own.username = role
    own.password = "secret"
    const client = new pg.Client(own.href)
    await client.connect()
    clients.set(role, client)
  }
})
afterAll(async () => {
  for (const client of clients.values()) await client.end()
  await dropRoles()
  await admin.end()
})

/** Roles belong to the server, which other test files share. */
async function dropRoles(): Promise<void> {
  for (const role of ROLES) {
    const { rowCount } = await admin.query("select from pg_roles where rolname = $1", [role])
    if (rowCount === 0) continue
    await admin.query(`drop owned by ${role}`)
    await admin.query(`drop role ${role}`)
  }
}

const INSERT = "insert into belfry.schedules (id, task, cron) values ('x', 'report', '0 3 1 1 *')"
const STATEMENTS = {
  status: "select name, status from belfry.schedule_status",
  history: "select run_id from belfry.run_history",
  trigger: "select belfry.trigger('x')",
  pause: "select belfry.pause('x', 'why')",
  resume: "select belfry.resume('x')",
  reschedule: "select belfry.reschedule('x', now() + interval '1 hour')",
  enqueue: "select belfry.enqueue('report')",
  insert: INSERT.replace("'x'", "'y'"),
  update:
    "update belfry.schedules set cron = '0 4 1 1 *', enabled = true, next_run_at = now() where id = 'x'",
  delete: "delete from belfry.schedules where id = 'x'",
  "write runs": "insert into belfry.runs (id, task, state, triggered_by) values ('r', 't', 'pending', 'api')",
  "change runs": "update belfry.runs set state = 'failed'",
  "write an internal column": "update belfry.schedules set version = version + 1 where id = 'x'",
  "insert an internal column": INSERT.replace("cron)", "cron, version)").replace("1 *')", "1 *', 1)"),
} as const

const READS = ["status", "history"] as const
const OPERATES = [...READS, "trigger", "pause", "resume", "reschedule", "enqueue"] as const
const DEFINES = [...READS, "insert", "update", "delete"] as const

describe.each<[Role, readonly (keyof typeof STATEMENTS)[]]>([
  ["belfry_viewer", READS],
  ["belfry_operator", OPERATES],
  ["belfry_author", DEFINES],
])("%s", (role, allowed) => {
  const client = () => clients.get(role)!

  test.each(Object.keys(STATEMENTS) as (keyof typeof STATEMENTS)[])("%s", async (name) => {
    await admin.query("delete from belfry.schedules; delete from belfry.runs")
    await admin.query(INSERT)

    const refusal = await client()
      .query(STATEMENTS[name])
      .then(
        () => null,
        (error: Error) => error.message,
      )

    if (allowed.includes(name)) assert.equal(refusal, null)
    else assert.match(refusal ?? "it was allowed", /permission denied/)
  })
})

test("changes are attributed to the caller, not to the owner of the function", async () => {
  await admin.query("delete from belfry.schedules; delete from belfry.runs")
  await clients.get("belfry_author")!.query(INSERT)
  const operator = clients.get("belfry_operator")!
  await operator.query("select belfry.trigger('x')")
  await operator.query("select belfry.pause('x', 'stocktaking', now() + interval '1 day')")
  const store = makeStore(url)
  await store.open()
  await new SqlHarness(store, admin).fireDue()
  await store.close()

  const viewer = clients.get("belfry_viewer")!
  const { rows: runs } = await viewer.query(
    "select triggered_by, requested_by, state from belfry.run_history",
  )
  assert.deepEqual(runs, [{ triggered_by: "manual", requested_by: "belfry_operator", state: "pending" }])
  const { rows } = await viewer.query(
    "select enabled, status, status_reason, paused_by from belfry.schedule_status",
  )
  const paused = { status: "paused", status_reason: "stocktaking", paused_by: "belfry_operator" }
  assert.deepEqual(rows, [{ enabled: false, ...paused }])
})

/** Otherwise casts of the table's own types would run with the rights of the function's owner. */
test.each(["deleted", "written_by_hand"])(
  "%s() can't be used as a trigger of another table",
  async (name) => {
    const viewer = clients.get("belfry_viewer")!
    await viewer.query("create temporary table if not exists own (id text, function text)")
    const attach = `create trigger t after delete on pg_temp.own for each row execute function belfry.${name}()`

    await assert.rejects(viewer.query(attach), /permission denied for function/)
    await admin.query("create temporary table own (id text, function text); insert into own values ('x')")
    await admin.query(attach)
    await assert.rejects(admin.query("delete from pg_temp.own"), /triggers of Belfry's own table/)
    await admin.query("drop table pg_temp.own")
  },
)

test("statements of an author or an operator never call objects in public", async () => {
  await admin.query("delete from belfry.schedules; delete from belfry.runs")
  await admin.query("create table public.called (by_whom text); grant all on public.called to public")
  // Each matches its call better than PostgreSQL's own function, which takes other types.
  for (const [name, takes, returns] of [
    ["to_jsonb", "belfry.schedules", "jsonb"],
    ["jsonb_array_length", "text", "integer"],
    ["date_trunc", "text, timestamptz", "timestamptz"],
    ["pg_notify", "name, unknown", "void"],
    ["round", "integer", "numeric"],
  ]) {
    const made = `create function public.${name}(${takes}) returns ${returns} language plpgsql as
      $$ begin insert into public.called values (current_user); return null; end $$`
    await admin.query(name === "pg_notify" ? made.replace("unknown", "text").replace("null", "") : made)
  }
  await admin.query(`alter database ${new URL(url).pathname.slice(1)} set search_path = public, pg_catalog`)
  const caller = new pg.Client(url)
  await caller.connect()
  await caller.query(INSERT)
  await caller.query("update belfry.schedules set cron = '0 4 1 1 *'")
  for (const call of [
    STATEMENTS.trigger,
    STATEMENTS.pause,
    STATEMENTS.resume,
    STATEMENTS.reschedule,
    STATEMENTS.enqueue,
  ])
    await caller.query(call)
  await caller.query("delete from belfry.schedules")
  const { rows } = await caller.query("select * from public.called")
  await caller.end()

  assert.deepEqual(rows, [])
})
