import assert from "node:assert/strict"
import { describe, onTestFinished, test } from "vitest"
import { performTask } from "../../support/task-run.ts"
import { anSqlCaller } from "./sql-caller.ts"

/** Functions of a real database as tasks: how their answers and errors are recorded. */

const self = anSqlCaller()
const { call, define, failureOf, seen } = self

describe("the answer of a function", () => {
  const MALFORMED: readonly [string, RegExp][] = [
    ["null", /app\.answers\(\) answered NULL, but that is not an answer/],
    ["'null'", /answered null, but that is not an object/],
    ["'[true]'", /answered \[true\], but that is not an object/],
    [`'"done"'`, /answered "done", but that is not an object/],
    ["'{}'", /answered \{\}, but "success" is missing/],
    [`'{"success": "yes"}'`, /answered \{"success": "yes"\}, but "success" is neither true nor false/],
    [`'{"success": null}'`, /"success" is neither true nor false/],
    [`'{"success": true, "message": 5}'`, /"message" is not a string/],
    [`'{"__proto__": {"success": true}}'`, /"success" is missing/],
    ["to_jsonb(repeat('x', 5000))", /answered "xxx.{100,200}… \(cut\), but that is not an object/],
  ]
  for (const [answer, words] of MALFORMED) {
    test(`${answer} is invalid: the run fails, and the function's work is rolled back`, async () => {
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

  test("success: false fails the run with its message and details, and the function's work is committed", async () => {
    onTestFinished(async () => void (await self.psql.query("delete from app.seen")))
    await define(
      "unlucky() returns jsonb",
      `insert into app.seen values ('unlucky', 'tried');
       return '{"success": false, "message": "The bank is closed", "details": {"until": 9}}';`,
    )

    const { success, message, details } = await call({ function: "unlucky" })

    assert.deepEqual([success, message, details], [false, "The bank is closed", { until: 9 }])
    assert.deepEqual(await seen(), [{ id: "unlucky", note: "tried" }])
  })

  test("without a message gets a default message for a failure, and none for a success", async () => {
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

  test("with unknown fields is stored without them, and the log names them", async () => {
    await define("talks() returns jsonb", `return '{"success": true, "rows": 5}';`)

    const { details, lines } = await call({ function: "talks" })

    assert.equal(details, null)
    assert.deepEqual(lines, [
      'The answer of app.talks() has fields that are not kept: rows. Put them into "details".',
    ])
  })

  test("up to the size limit is stored; a larger one fails the run and is not sent", async () => {
    await define(
      "large(payload jsonb) returns jsonb",
      "return jsonb_build_object('success', true, 'details', repeat('x', payload::int));",
    )

    const most = 1_048_576 - '{"details": "", "success": true}'.length
    assert.equal((await call({ function: "large", payload: most })).success, true)
    assert.match(
      await failureOf({ function: "large", payload: most + 1 }),
      /answered 1048577 bytes; at most 1048576 are allowed/,
    )
    assert.match(
      await failureOf({ function: "large", payload: 100 }, { maxResultBytes: 50 }),
      /at most 50 are allowed/,
    )
  })

  test("may come with notices and warnings, of which up to a thousand go to the run's log", async () => {
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

describe("an error in a function", () => {
  test("is recorded with its SQLSTATE, message and context, and all work is rolled back", async () => {
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

  test("that the function raises itself keeps its hint", async () => {
    await define(
      "raises() returns jsonb",
      `raise exception 'no rate for %', 'CHF' using errcode = 'BF123', hint = 'Load the rates first.';`,
    )

    assert.match(
      await failureOf({ function: "raises" }),
      /^ERROR BF123: no rate for CHF\nHINT: Load the rates first\.\nCONTEXT: PL\/pgSQL function raises\(\) line 1 at RAISE$/,
    )
  })

  test("of a deferred constraint at the commit fails the run too", async () => {
    await self.psql.query(
      "create table app.child (id text references app.seen deferrable initially deferred)",
    )
    await define(
      "orphan() returns jsonb",
      `insert into app.child values ('nobody'); return '{"success": true}';`,
    )

    assert.match(await failureOf({ function: "orphan" }), /^ERROR 23503: insert or update on table "child"/)
    assert.equal((await self.psql.query("select from app.child")).rowCount, 0)
  })

  test("that terminates the connection fails the run, and the next run uses another connection", async () => {
    await define(
      "suicidal(payload jsonb) returns jsonb",
      `if payload::bool then perform pg_terminate_backend(pg_backend_pid()); end if; return '{"success": true}';`,
    )
    const task = self.task({ connections: 1 })

    const first = await performTask(task, { function: "suicidal", payload: true }).ended
    const second = await performTask(task, { function: "suicidal", payload: false }).ended

    assert.match(first.message, /^FATAL 57P01: terminating connection/)
    assert.equal(second.success, true)
  })

  test("for a text that jsonb can't hold is reported as an error of the server", async () => {
    await define("takes(payload jsonb) returns jsonb", `return '{"success": true}';`)

    assert.match(await failureOf({ function: "takes", payload: "\u0000" }), /^ERROR 22P05: /)
  })
})
