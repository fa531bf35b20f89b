import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createScheduler, type Json } from "belfry"
import { postgres, type SqlFunctionsOptions, sqlFunctions } from "belfry/postgres"
import pg from "pg"
import { afterAll, beforeAll, describe, onTestFinished, test } from "vitest"
import type { RunInfo } from "../../../src/engine/task.ts"
import { freshDatabase } from "../../support/fresh-database.ts"
import { connected, query } from "../../support/postgres.ts"
import { performTask } from "../../support/task-run.ts"

/** Functions of a real database, as tasks. */

let url: string
let psql: pg.Client

beforeAll(async () => {
  url = await freshDatabase()
  psql = new pg.Client(url)
  await psql.connect()
  await psql.query(
    "create schema app; create schema other; create table app.seen (id text primary key, note text)",
  )
})
afterAll(() => psql?.end())

/** A PL/pgSQL function of the schema `app`. */
async function define(head: string, body: string): Promise<void> {
  await psql.query(
    `create or replace function app.${head} language plpgsql as $body$ begin ${body} end $body$`,
  )
}

async function call(payload: Json, options: Partial<SqlFunctionsOptions> = {}, run: Partial<RunInfo> = {}) {
  const task = sqlFunctions({ url, schemas: ["app"], ...options })
  const { ended, lines } = performTask(task, payload, { run })
  try {
    return { ...(await ended), lines }
  } finally {
    await task.close()
  }
}

async function failureOf(payload: Json, options: Partial<SqlFunctionsOptions> = {}): Promise<string> {
  const { success, message } = await call(payload, options)
  assert.equal(success, false, message)
  return message
}

const seen = async () => (await psql.query("select id, note from app.seen order by id")).rows

describe("which function is called", () => {
  test("one that takes jsonb is given the payload, and its answer is the run's", async () => {
    await define(
      "greet(payload jsonb) returns jsonb",
      `return jsonb_build_object('success', true, 'message', 'Hello ' || (payload ->> 'name'), 'details', payload);`,
    )

    const { success, message, details } = await call({ function: "app.greet", payload: { name: "Ann'; --" } })

    assert.deepEqual(
      { success, message, details },
      {
        success: true,
        message: "Hello Ann'; --",
        details: { name: "Ann'; --" },
      },
    )
  })

  test("without a schema it is looked for in the first that is allowed, and only there", async () => {
    await define("in_app() returns jsonb", `return '{"success": true}';`)

    assert.equal((await call({ function: "in_app" }, { schemas: ["app", "other"] })).success, true)
    assert.match(
      await failureOf({ function: "in_app" }, { schemas: ["other", "app"] }),
      /There is no function other\.in_app\(jsonb\) or other\.in_app\(\)/,
    )
  })

  test("of two, the one that takes a payload; and nothing said is SQL's null, unlike JSON's", async () => {
    await define("both() returns jsonb", `return '{"success": true, "message": "()"}';`)
    await define(
      "both(payload jsonb) returns jsonb",
      `return jsonb_build_object('success', true, 'message', coalesce(payload::text, 'NULL'));`,
    )

    assert.equal((await call({ function: "both" })).message, "NULL")
    assert.equal((await call({ function: "both", payload: null })).message, "null")
  })

  test("a function without arguments is called without the payload, and the log says so", async () => {
    await define("alone() returns jsonb", `return '{"success": true}';`)

    const { success, lines } = await call({ function: "alone", payload: 1 })

    assert.equal(success, true)
    assert.deepEqual(lines, ["app.alone() takes no payload: the one that was given is not used."])
  })

  test("a name that is a word of SQL's own is only a name", async () => {
    await define(`"select"(payload jsonb) returns jsonb`, `return '{"success": true}';`)

    assert.equal((await call({ function: "app.select" })).success, true)
  })

  test("what can't be called fails the run, and the message says why", async () => {
    await define("takes_more(a jsonb, b int) returns jsonb", `return '{}';`)
    await define("takes_text(a text) returns jsonb", `return '{}';`)
    await define("takes_text(a int) returns jsonb", `return '{}';`)
    await define("returns_nothing() returns void", "return;")
    await define("returns_json() returns json", `return '{"success": true}';`)
    await define("returns_many() returns setof jsonb", `return next '{"success": true}'::jsonb;`)
    await psql.query("create procedure app.proceed() language sql as 'select 1'")
    await psql.query("create aggregate app.gather(jsonb) (sfunc = jsonb_concat, stype = jsonb)")
    await psql.query("create domain app.answer as jsonb")
    await define("returns_domain() returns app.answer", `return '{"success": true}';`)
    await psql.query(
      `create function app.strictly(jsonb) returns jsonb strict language sql as $$ select '{"success": true}'::jsonb $$`,
    )

    assert.match(
      await failureOf({ function: "gone" }),
      /There is no function app\.gone\(jsonb\) or app\.gone\(\)\. Create it/,
    )
    assert.match(
      await failureOf({ function: "takes_more" }),
      /There is app\.takes_more\(jsonb, integer\), but/,
    )
    assert.match(
      await failureOf({ function: "takes_text" }),
      /There is app\.takes_text\(text\), app\.takes_text\(integer\), but a function that is called takes \(jsonb\) or nothing/,
    )
    assert.match(
      await failureOf({ function: "returns_nothing" }),
      /app\.returns_nothing\(\) returns void; it has to return jsonb/,
    )
    assert.match(await failureOf({ function: "returns_json" }), /returns json; it has to return jsonb/)
    assert.match(await failureOf({ function: "returns_many" }), /returns SETOF jsonb; it has to return jsonb/)
    assert.match(
      await failureOf({ function: "returns_domain" }),
      /returns (app\.)?answer; it has to return jsonb/,
    )
    assert.match(
      await failureOf({ function: "proceed" }),
      /app\.proceed is a procedure\. Only functions are called/,
    )
    assert.match(await failureOf({ function: "gather" }), /app\.gather is an aggregate/)
    assert.match(
      await failureOf({ function: "strictly" }),
      /is strict, so PostgreSQL wouldn't call it without a payload/,
    )
    assert.equal((await call({ function: "strictly", payload: null })).success, true)
  })

  test("it is looked up at every run: one that is replaced by another form is refused from then on", async () => {
    await define("changing() returns jsonb", `return '{"success": true}';`)
    const task = sqlFunctions({ url, schemas: ["app"] })
    onTestFinished(() => task.close())
    const before = await performTask(task, { function: "changing" }).ended

    await psql.query("drop function app.changing()")
    await define("changing() returns text", `return '{"success": true}';`)

    assert.equal(before.success, true)
    assert.match((await performTask(task, { function: "changing" }).ended).message, /returns text/)
  })
})

describe("what a function answers", () => {
  const MALFORMED: readonly [string, RegExp][] = [
    ["null", /app\.answers\(\) answered NULL, but that is nothing at all/],
    ["'null'", /answered null, but that is no object/],
    ["'[true]'", /answered \[true\], but that is no object/],
    [`'"done"'`, /answered "done", but that is no object/],
    ["'{}'", /answered \{\}, but "success" is missing/],
    [`'{"success": "yes"}'`, /answered \{"success": "yes"\}, but "success" is neither true nor false/],
    [`'{"success": null}'`, /"success" is neither true nor false/],
    [`'{"success": true, "message": 5}'`, /"message" is no text/],
    [`'{"__proto__": {"success": true}}'`, /"success" is missing/],
    ["to_jsonb(repeat('x', 5000))", /answered "xxx.{100,200}… \(cut\), but that is no object/],
  ]
  for (const [answer, words] of MALFORMED) {
    test(`${answer} is none: the run fails, and what the function did is rolled back`, async () => {
      await define(
        "answers() returns jsonb",
        `insert into app.seen (id) values ('malformed'); return ${answer};`,
      )

      const message = await failureOf({ function: "answers" })

      assert.match(message, words)
      assert.ok(message.length < 500)
      assert.deepEqual(await seen(), [])
    })
  }

  test("success: false fails the run with its message and details, and what it did stays", async () => {
    onTestFinished(async () => void (await psql.query("delete from app.seen")))
    await define(
      "unlucky() returns jsonb",
      `insert into app.seen values ('unlucky', 'tried');
       return '{"success": false, "message": "The bank is closed", "details": {"until": 9}}';`,
    )

    const { success, message, details } = await call({ function: "unlucky" })

    assert.deepEqual([success, message, details], [false, "The bank is closed", { until: 9 }])
    assert.deepEqual(await seen(), [{ id: "unlucky", note: "tried" }])
  })

  test("without a message there is one for a failure, and none for a success", async () => {
    await define(
      "silent(payload jsonb) returns jsonb",
      "return jsonb_build_object('success', payload, 'message', null);",
    )

    assert.equal((await call({ function: "silent", payload: true })).message, null)
    assert.equal(
      (await call({ function: "silent", payload: false })).message,
      'app.silent(jsonb) answered {"success": false} without a message',
    )
  })

  test("what stands beside the three fields is not kept, and the log says so", async () => {
    await define("talks() returns jsonb", `return '{"success": true, "rows": 5}';`)

    const { details, lines } = await call({ function: "talks" })

    assert.equal(details, null)
    assert.deepEqual(lines, ['The answer of app.talks() has more than is kept: rows. Put it into "details".'])
  })

  test("an answer up to the limit is taken, one that is larger fails and is never sent", async () => {
    await define(
      "large(payload jsonb) returns jsonb",
      "return jsonb_build_object('success', true, 'details', repeat('x', payload::int));",
    )

    const most = 1_048_576 - '{"details": "", "success": true}'.length
    assert.equal((await call({ function: "large", payload: most })).success, true)
    assert.match(
      await failureOf({ function: "large", payload: most + 1 }),
      /answered 1048577 bytes; at most 1048576 are taken/,
    )
    assert.match(
      await failureOf({ function: "large", payload: 100 }, { maxResultBytes: 50 }),
      /at most 50 are taken/,
    )
  })

  test("notices and warnings go to the run's log, up to a thousand", async () => {
    await define(
      "chats(payload jsonb) returns jsonb",
      `raise notice 'closing %', 3; for i in 1..payload::int loop raise warning 'w%', i; end loop; return '{"success": true}';`,
    )

    assert.deepEqual((await call({ function: "chats", payload: 1 })).lines, ["closing 3", "w1"])
    const { lines } = await call({ function: "chats", payload: 5_000 })
    assert.equal(lines.length, 1_000)
    assert.equal(lines.at(-1), "… (there are more notices)")
  })
})

describe("what goes wrong inside", () => {
  test("an exception is recorded with its SQLSTATE, its words and where it happened, and all is rolled back", async () => {
    await define(
      "twice() returns jsonb",
      `insert into app.seen (id) values ('a'); insert into app.seen (id) values ('a'); return '{"success": true}';`,
    )

    const { success, message, details } = await call({ function: "twice" })

    assert.equal(success, false)
    assert.equal(
      message,
      'ERROR 23505: duplicate key value violates unique constraint "seen_pkey"\n' +
        "DETAIL: Key (id)=(a) already exists.\n" +
        "CONTEXT: PL/pgSQL function twice() line 1 at SQL statement",
    )
    assert.deepEqual(details, {
      sqlstate: "23505",
      message: 'duplicate key value violates unique constraint "seen_pkey"',
      detail: "Key (id)=(a) already exists.",
      hint: null,
      context: "PL/pgSQL function twice() line 1 at SQL statement",
    })
    assert.deepEqual(await seen(), [])
  })

  test("one that it raises itself has the hint it gave", async () => {
    await define(
      "raises() returns jsonb",
      `raise exception 'no rate for %', 'CHF' using errcode = 'BF123', hint = 'Load the rates first.';`,
    )

    assert.match(
      await failureOf({ function: "raises" }),
      /^ERROR BF123: no rate for CHF\nHINT: Load the rates first\.\nCONTEXT: PL\/pgSQL function raises\(\) line 1 at RAISE$/,
    )
  })

  test("a constraint that speaks up at the commit fails the run, too", async () => {
    await psql.query("create table app.child (id text references app.seen deferrable initially deferred)")
    await define(
      "orphan() returns jsonb",
      `insert into app.child values ('nobody'); return '{"success": true}';`,
    )

    assert.match(await failureOf({ function: "orphan" }), /^ERROR 23503: insert or update on table "child"/)
    assert.equal((await psql.query("select from app.child")).rowCount, 0)
  })

  test("a connection that the server ends fails the run, and the next one has another", async () => {
    await define(
      "suicidal(payload jsonb) returns jsonb",
      `if payload::bool then perform pg_terminate_backend(pg_backend_pid()); end if; return '{"success": true}';`,
    )
    const task = sqlFunctions({ url, schemas: ["app"], connections: 1 })
    onTestFinished(() => task.close())

    const first = await performTask(task, { function: "suicidal", payload: true }).ended
    const second = await performTask(task, { function: "suicidal", payload: false }).ended

    assert.match(first.message, /^FATAL 57P01: terminating connection/)
    assert.equal(second.success, true)
  })

  test("a text that jsonb can't hold is an error of the server's, not of the program's", async () => {
    await define("takes(payload jsonb) returns jsonb", `return '{"success": true}';`)

    assert.match(await failureOf({ function: "takes", payload: "\u0000" }), /^ERROR 22P05: /)
  })
})

describe("what a function is given", () => {
  test("the run's id, attempt, schedule and nominal time, for this transaction only", async () => {
    await define(
      "told() returns jsonb",
      `return jsonb_build_object('success', true, 'details', jsonb_build_array(
         current_setting('belfry.run_id'), current_setting('belfry.attempt')::int,
         current_setting('belfry.schedule_id'), nullif(current_setting('belfry.scheduled_for'), '')::timestamptz at time zone 'UTC'));`,
    )
    const pool = new pg.Pool({ connectionString: url, max: 1 })
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

  test("a search path of its own schema, in which nobody's temporary table or public function is found", async () => {
    await psql.query("create function public.lurking() returns text language sql as $$ select 'public' $$")
    await define(
      "path() returns jsonb",
      `return jsonb_build_object('success', true, 'message', current_setting('search_path'));`,
    )
    await define("lured() returns jsonb", "return jsonb_build_object('success', true, 'message', lurking());")

    assert.equal((await call({ function: "path" })).message, '"app", pg_temp')
    assert.match(await failureOf({ function: "lured" }), /^ERROR 42883: function lurking\(\) does not exist/)
  })

  test("as the role that was named it may do what that role may, and no more", async () => {
    const role = `low_${new URL(url).pathname.slice(-6)}`
    await psql.query(`create role "${role}"`)
    onTestFinished(async () => void (await psql.query(`drop owned by "${role}"; drop role "${role}"`)))
    await define(
      "whoami() returns jsonb",
      "return jsonb_build_object('success', true, 'message', current_user);",
    )
    await define("writes() returns jsonb", `insert into app.seen values ('w'); return '{"success": true}';`)
    await psql.query("revoke execute on function app.whoami() from public")

    assert.match(
      await failureOf({ function: "whoami" }, { role }),
      /may not use schema app\. Allow it: grant usage on schema app to/,
    )
    await psql.query(`grant usage on schema app to "${role}"`)
    assert.match(
      await failureOf({ function: "whoami" }, { role }),
      /may not execute app\.whoami\(\)\. Allow it: grant execute on function app\.whoami\(\) to "low_/,
    )
    await psql.query(`grant execute on function app.whoami() to "${role}"`)
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

  test("so much time, and less for waiting on locks", async () => {
    await define("sleeps() returns jsonb", `perform pg_sleep(60); return '{"success": true}';`)
    await define("locks() returns jsonb", `lock table app.seen; return '{"success": true}';`)
    await psql.query("begin; lock table app.seen")
    onTestFinished(async () => void (await psql.query("rollback")))

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

test("a row with a function in it is a schedule: it is called, and what it answers is recorded", async () => {
  await define(
    "close_day(payload jsonb) returns jsonb",
    `return jsonb_build_object('success', true, 'message', 'Closed ' || (payload ->> 'shop'),
       'details', jsonb_build_object('run', current_setting('belfry.run_id')));`,
  )
  const sql = sqlFunctions({ url, schemas: ["app"] })
  const scheduler = createScheduler({ store: postgres(url), tasks: [sql] })
  onTestFinished(async () => {
    await scheduler.stop()
    await sql.close()
  })
  await scheduler.start()

  await psql.query(
    `insert into belfry.schedules (id, cron, function, payload) values ('close-day', '* * * * * *', 'app.close_day', '{"shop": "north"}')`,
  )

  const [run] = await rowsOnceThere(
    "select id, state, message, details from belfry.runs where state = 'succeeded' order by created_at limit 1",
  )
  assert.equal(run!["message"], "Closed north")
  assert.deepEqual(run!["details"], { run: run!["id"] })
})

test("the guide's own statements do what it says", async () => {
  const guide = readFileSync(new URL("../../../docs/guides/sql-functions.md", import.meta.url), "utf8")
  const blocks = [...guide.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, block]) => block!)
  const address = await freshDatabase()
  const store = postgres(address)
  await store.open()
  await using client = await connected(address)
  for (const block of blocks)
    await client.query(block.replaceAll("app_jobs login", ROLE).replaceAll("app_jobs", ROLE))
  onTestFinished(() => query(address, `drop owned by ${ROLE}; drop role ${ROLE}`).then(() => undefined))
  await client.query("insert into app.orders (shop) values ('north'), ('north'), ('south')")
  const sql = sqlFunctions({ url: address, schemas: ["app"], role: ROLE })
  const scheduler = createScheduler({ store, tasks: [sql] })
  onTestFinished(async () => {
    await scheduler.stop()
    await sql.close()
  })
  await scheduler.start()

  const { runId } = await scheduler.schedules.trigger("close-day")
  const run = await scheduler.runs.wait(runId!)
  const again = performTask(sqlFunctions({ url: address, schemas: ["app"] }), { function: "pay_out" })

  assert.ok(blocks.length >= 6)
  assert.deepEqual([run?.state, run?.message, run?.details], ["succeeded", "2 orders closed", { orders: 2 }])
  assert.deepEqual(
    (await scheduler.runs.logs(runId!)).map(({ message }) => message),
    ["closed 2 orders"],
  )
  assert.equal((await again.ended).message, "Paid out")
})

const ROLE = "belfry_guide_jobs"

async function rowsOnceThere(text: string): Promise<readonly Record<string, unknown>[]> {
  for (;;) {
    const { rows } = await psql.query(text)
    if (rows.length > 0) return rows
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
