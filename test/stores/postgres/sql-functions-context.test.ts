import assert from "node:assert/strict"
import pg from "pg"
import { describe, onTestFinished, test } from "vitest"
import { anSqlCaller } from "./sql-caller.ts"

/** Functions of a real database as tasks: their transaction, their role and their time limits. */

const self = anSqlCaller()
const { call, define, failureOf } = self

describe("a function gets", () => {
  test("the run's id, attempt, schedule and nominal time, for this transaction only", async () => {
    await define(
      "told() returns jsonb",
      `return jsonb_build_object('success', true, 'details', jsonb_build_array(
         current_setting('belfry.run_id'), current_setting('belfry.attempt')::int,
         current_setting('belfry.schedule_id'), nullif(current_setting('belfry.scheduled_for'), '')::timestamptz at time zone 'UTC'));`,
    )
    const pool = new pg.Pool({ connectionString: self.url, max: 1 })
    onTestFinished(() => pool.end())

    const { details } = await call({ function: "told" }, { pool, url: undefined as never }, { attempt: 2 })
    const enqueued = await call(
      { function: "told" },
      { pool, url: undefined as never },
      { id: "x", scheduleId: null, scheduledFor: null },
    )

    assert.deepEqual(details, ["nightly@2026-01-01T00:00:00.000Z", 2, "nightly", "2026-01-01T00:00:00"])
    assert.deepEqual(enqueued.details, ["x", 1, "", null])
    const { rows } = await pool.query(
      "select current_setting('belfry.run_id') as id, current_setting('search_path') as path, current_setting('statement_timeout') as timeout",
    )
    assert.deepEqual(rows, [{ id: "", path: '"$user", public', timeout: "0" }])
  })

  test("a search path of its own schema, which excludes functions in public", async () => {
    await self.psql.query(
      "create function public.lurking() returns text language sql as $$ select 'public' $$",
    )
    await define(
      "path() returns jsonb",
      `return jsonb_build_object('success', true, 'message', current_setting('search_path'));`,
    )
    await define("lured() returns jsonb", "return jsonb_build_object('success', true, 'message', lurking());")

    assert.equal((await call({ function: "path" })).message, '"app", pg_temp')
    assert.match(await failureOf({ function: "lured" }), /^ERROR 42883: function lurking\(\) does not exist/)
  })

  test("the rights of the configured role, and no others", async () => {
    const role = `low_${new URL(self.url).pathname.slice(-6)}`
    await self.psql.query(`create role "${role}"`)
    onTestFinished(async () => void (await self.psql.query(`drop owned by "${role}"; drop role "${role}"`)))
    await define(
      "whoami() returns jsonb",
      "return jsonb_build_object('success', true, 'message', current_user);",
    )
    await define("writes() returns jsonb", `insert into app.seen values ('w'); return '{"success": true}';`)
    await self.psql.query("revoke execute on function app.whoami() from public")

    assert.match(
      await failureOf({ function: "whoami" }, { role }),
      /may not use schema app\. Allow it: grant usage on schema app to/,
    )
    await self.psql.query(`grant usage on schema app to "${role}"`)
    assert.match(
      await failureOf({ function: "whoami" }, { role }),
      /may not execute app\.whoami\(\)\. Allow it: grant execute on function app\.whoami\(\) to "low_/,
    )
    await self.psql.query(`grant execute on function app.whoami() to "${role}"`)
    assert.equal((await call({ function: "whoami" }, { role })).message, role)
    assert.match(
      await failureOf({ function: "writes" }, { role }),
      /^ERROR 42501: permission denied for table seen/,
    )
    assert.match(
      await failureOf({ function: "whoami" }, { role: `x"; drop table y; --` }),
      /^ERROR 22023: role ".*" does not exist/,
    )
  })

  test("a statement timeout, and a shorter lock timeout", async () => {
    await define("sleeps() returns jsonb", `perform pg_sleep(60); return '{"success": true}';`)
    await define("locks() returns jsonb", `lock table app.seen; return '{"success": true}';`)
    await self.psql.query("begin; lock table app.seen")
    onTestFinished(async () => void (await self.psql.query("rollback")))

    assert.match(
      await failureOf({ function: "sleeps" }, { timeout: "100ms" }),
      /^ERROR 57014: canceling statement due to statement timeout/,
    )
    assert.match(
      await failureOf({ function: "locks" }, { lockTimeout: "50ms" }),
      /^ERROR 55P03: canceling statement due to lock timeout/,
    )
  })
})
