import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createScheduler, silentLogger } from "belfry"
import { sqlFunctions } from "belfry/postgres"
import { describe, onTestFinished, test } from "vitest"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { connected, query } from "../../support/postgres.ts"
import { performTask } from "../../support/task-run.ts"
import { aStore, until } from "./scratch.ts"
import { anSqlCaller } from "./sql-caller.ts"

/** Functions of a real database as tasks: which functions are called. */

const self = anSqlCaller()
const { call, define, failureOf } = self

describe("a function", () => {
  test("that takes jsonb gets the payload, and its answer is stored with the run", async () => {
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

  test("without a schema is looked up in the first allowed schema only", async () => {
    await define("in_app() returns jsonb", `return '{"success": true}';`)

    assert.equal((await call({ function: "in_app" }, { schemas: ["app", "other"] })).success, true)
    assert.match(
      await failureOf({ function: "in_app" }, { schemas: ["other", "app"] }),
      /There is no function other\.in_app\(jsonb\) or other\.in_app\(\)/,
    )
  })

  test("with a payload is preferred to one without; a missing payload is SQL null, not JSON null", async () => {
    await define("both() returns jsonb", `return '{"success": true, "message": "()"}';`)
    await define(
      "both(payload jsonb) returns jsonb",
      `return jsonb_build_object('success', true, 'message', coalesce(payload::text, 'NULL'));`,
    )

    assert.equal((await call({ function: "both" })).message, "NULL")
    assert.equal((await call({ function: "both", payload: null })).message, "null")
  })

  test("without arguments is called without the payload, and the log says so", async () => {
    await define("alone() returns jsonb", `return '{"success": true}';`)

    const { success, lines } = await call({ function: "alone", payload: 1 })

    assert.equal(success, true)
    assert.deepEqual(lines, ["app.alone() takes no payload; the given payload is not used."])
  })

  test("may have an SQL keyword as its name", async () => {
    await define(`"select"(payload jsonb) returns jsonb`, `return '{"success": true}';`)

    assert.equal((await call({ function: "app.select" })).success, true)
  })

  test("that can't be called fails the run, and the message says why", async () => {
    await define("takes_more(a jsonb, b int) returns jsonb", `return '{}';`)
    await define("takes_text(a text) returns jsonb", `return '{}';`)
    await define("takes_text(a int) returns jsonb", `return '{}';`)
    await define("returns_nothing() returns void", "return;")
    await define("returns_json() returns json", `return '{"success": true}';`)
    await define("returns_many() returns setof jsonb", `return next '{"success": true}'::jsonb;`)
    await self.psql.query("create procedure app.proceed() language sql as 'select 1'")
    await self.psql.query("create aggregate app.gather(jsonb) (sfunc = jsonb_concat, stype = jsonb)")
    await self.psql.query("create domain app.answer as jsonb")
    await define("returns_domain() returns app.answer", `return '{"success": true}';`)
    await self.psql.query(
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
      /There is app\.takes_text\(text\), app\.takes_text\(integer\), but the function must take one jsonb argument or none/,
    )
    assert.match(
      await failureOf({ function: "returns_nothing" }),
      /app\.returns_nothing\(\) returns void; it must return jsonb/,
    )
    assert.match(await failureOf({ function: "returns_json" }), /returns json; it must return jsonb/)
    assert.match(await failureOf({ function: "returns_many" }), /returns SETOF jsonb; it must return jsonb/)
    assert.match(
      await failureOf({ function: "returns_domain" }),
      /returns (app\.)?answer; it must return jsonb/,
    )
    assert.match(
      await failureOf({ function: "proceed" }),
      /app\.proceed is a procedure\. Only functions can be called/,
    )
    assert.match(await failureOf({ function: "gather" }), /app\.gather is an aggregate/)
    assert.match(
      await failureOf({ function: "strictly" }),
      /is strict, so PostgreSQL wouldn't call it without a payload/,
    )
    assert.equal((await call({ function: "strictly", payload: null })).success, true)
  })

  test("is looked up at every run, so that a replacement of another type is refused", async () => {
    await define("changing() returns jsonb", `return '{"success": true}';`)
    const task = self.task()
    const before = await performTask(task, { function: "changing" }).ended

    await self.psql.query("drop function app.changing()")
    await define("changing() returns text", `return '{"success": true}';`)

    assert.equal(before.success, true)
    assert.match((await performTask(task, { function: "changing" }).ended).message, /returns text/)
  })
})

test("a schedule row with a function calls it and records its answer", async () => {
  await define(
    "close_day(payload jsonb) returns jsonb",
    `return jsonb_build_object('success', true, 'message', 'Closed ' || (payload ->> 'shop'),
       'details', jsonb_build_object('run', current_setting('belfry.run_id')));`,
  )
  const scheduler = createScheduler({ store: aStore(self.url), tasks: [self.task()], logger: silentLogger })
  onTestFinished(() => scheduler.stop())
  await scheduler.start()

  await self.psql.query(
    `insert into belfry.schedules (id, cron, function, payload) values ('close-day', '* * * * * *', 'app.close_day', '{"shop": "north"}')`,
  )

  const succeeded = "select id, message, details from belfry.runs where state = 'succeeded'"
  await until(async () => (await self.psql.query(succeeded)).rowCount! > 0)
  const [run] = (await self.psql.query(succeeded)).rows
  assert.equal(run.message, "Closed north")
  assert.deepEqual(run.details, { run: run.id })
})

test("the guide's SQL does what the guide says", async () => {
  const guide = readFileSync(new URL("../../../docs/guides/sql-functions.md", import.meta.url), "utf8")
  const blocks = [...guide.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, block]) => block!)
  const address = await migratedDatabase()
  await using client = await connected(address)
  for (const block of blocks)
    await client.query(
      block
        .replaceAll("app_jobs login", ROLE)
        .replaceAll("app_jobs", ROLE)
        .replaceAll("to belfry;", "to current_user;"),
    )
  onTestFinished(() => query(address, `drop owned by ${ROLE}; drop role ${ROLE}`).then(() => undefined))
  await client.query("insert into app.orders (shop) values ('north'), ('north'), ('south')")
  const sql = self.task({ url: address, role: ROLE })
  const scheduler = createScheduler({ store: aStore(address), tasks: [sql], logger: silentLogger })
  onTestFinished(() => scheduler.stop())
  await scheduler.start()

  const { runId } = await scheduler.schedules.trigger("close-day")
  const run = await scheduler.runs.wait(runId!, { timeout: "2m" })
  const again = performTask(self.task({ url: address, role: ROLE }), { function: "pay_out" })

  assert.ok(blocks.length >= 6)
  assert.deepEqual([run?.state, run?.message, run?.details], ["succeeded", "2 orders closed", { orders: 2 }])
  assert.deepEqual(
    (await scheduler.runs.logs(runId!)).items.map(({ message }) => message),
    ["closed 2 orders"],
  )
  assert.equal((await again.ended).message, "Paid out")
})

const ROLE = "belfry_guide_jobs"

describe("a schedule of a function", () => {
  test("is refused while the function can't be called, and stored once it can", async () => {
    const task = self.task()
    const { schedules } = createScheduler({ store: aStore(self.url), tasks: [task] })
    const nightly = { task, cron: "@daily", payload: { function: "app.not_yet" } }
    const refused = {
      code: "BELFRY_PAYLOAD_INVALID",
      message:
        'Payload of task "sql" can\'t be used: There is no function app.not_yet(jsonb) or app.not_yet(). Create it, or correct the name.',
    }

    await assert.rejects(schedules.create("nightly", nightly), refused)
    await define("not_yet() returns jsonb", `return '{"success": true}';`)
    await schedules.create("nightly", nightly)
    await assert.rejects(
      schedules.update("nightly", { payload: { function: "app.never" } }, { ifRevision: 1 }),
      /There is no function app\.never\(jsonb\)/,
    )
  })

  test("is checked as the role that will call the function", async () => {
    await self.psql.query("create role examined")
    onTestFinished(() => self.psql.query("drop role examined").then(() => undefined))
    await define("examined() returns jsonb", `return '{"success": true}';`)
    const task = self.task({ role: "examined" })
    const { schedules } = createScheduler({ store: aStore(self.url), tasks: [task] })

    await assert.rejects(
      schedules.create("s", { task, cron: "@daily", payload: { function: "examined" } }),
      /Role "examined" may not use schema app/,
    )
  })

  test("is stored if the database of the functions is unreachable", async () => {
    const away = { connect: () => Promise.reject(new Error("away")), end: async () => undefined }
    const task = sqlFunctions({ pool: away, schemas: ["app"] })
    const { schedules } = createScheduler({ store: aStore(self.url), tasks: [task] })

    const made = await schedules.create("away", { task, cron: "@daily", payload: { function: "f" } })

    assert.equal(made.id, "away")
  })
})
