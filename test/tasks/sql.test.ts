import assert from "node:assert/strict"
import { test } from "vitest"
import type { BelfryError, Json } from "../../src/index.ts"
import { type SqlFunctionsOptions, sqlFunctions } from "../../src/postgres.ts"
import { performTask } from "../support/task-run.ts"

/** A pool that records every call and refuses every connection. */
function closedPool() {
  const asked: string[] = []
  const pool = {
    connect: async () => {
      asked.push("connect")
      throw Object.assign(new Error(""), { code: "ECONNREFUSED" })
    },
    end: async () => void asked.push("end"),
  }
  return { pool, asked }
}

const { pool, asked } = closedPool()
const task = sqlFunctions({ pool, schemas: ["app", "reports"] })

async function refusalOf(payload: Json): Promise<string> {
  const error = await performTask(task, payload).ended.then(
    () => assert.fail("the payload was accepted"),
    (thrown: BelfryError) => thrown,
  )
  assert.equal(error.code, "BELFRY_PAYLOAD_INVALID", error.message)
  return error.message
}

const HOSTILE_NAMES = [
  "",
  ".",
  "app.",
  ".f",
  "a.b.c",
  "f()",
  "f; drop table users",
  'f"',
  'app."f"',
  "f'",
  "f--",
  "f/**/",
  "f\u0000",
  "f\n",
  "\nf",
  "F",
  "ｆ",
  "ſ",
  "1f",
  "$f",
  "f$1",
  "pg_catalog.f()",
  "app .f",
  "app.f ",
  "f".repeat(64),
  `${"a".repeat(64)}.f`,
  "f".repeat(1_000_000),
]

for (const name of HOSTILE_NAMES) {
  test(`${JSON.stringify(name.slice(0, 20))} (${name.length}) is not the name of a function, and the database is not asked`, async () => {
    const message = await refusalOf({ function: name })

    assert.match(message, /Payload of task "sql" is invalid at function: .* is not the name of a function/)
    assert.ok(message.length < 400)
    assert.deepEqual(asked, [])
  })
}

test("a schema that isn't allowed is refused, such as the catalogue", async () => {
  assert.match(
    await refusalOf({ function: "pg_catalog.jsonb_strip_nulls" }),
    /schema "pg_catalog" is not allowed here; allowed are app, reports/,
  )
  assert.match(await refusalOf({ function: "public.f" }), /schema "public" is not allowed/)
  assert.deepEqual(asked, [])
})

test("a payload that is not a function call is refused", async () => {
  assert.match(await refusalOf(null), /expected an object, received nothing/)
  assert.match(await refusalOf("app.f"), /expected an object, received a string/)
  assert.match(await refusalOf({}), /function: expected a string, received nothing/)
  assert.match(await refusalOf({ function: ["app.f"] }), /function: expected a string, received a list/)
  assert.match(await refusalOf({ function: "f", role: "postgres" }), /role: is not a known field/)
  assert.match(
    await refusalOf(JSON.parse('{"function":"f","__proto__":{"payload":1}}') as Json),
    /__proto__: is not a known field/,
  )
})

test("a schedule with an invalid function name is refused when it is declared", () => {
  assert.throws(() => task.schedule("nightly", { cron: "@daily", payload: { function: "f; --" } }), {
    code: "BELFRY_PAYLOAD_INVALID",
  })
  assert.equal(
    task.schedule("nightly", { cron: "@daily", payload: { function: "reports.close_day", payload: [1] } })
      .task,
    task,
  )
})

const MISTAKES: readonly [Partial<SqlFunctionsOptions>, RegExp][] = [
  [{ schemas: [] }, /needs `schemas`/],
  [{ schemas: ["App"] }, /can't call from schema "App"/],
  [{ schemas: ['a"; drop'] }, /can't call from schema/],
  [{ schemas: ["pg_catalog"] }, /PostgreSQL's own/],
  [{ schemas: ["information_schema"] }, /PostgreSQL's own/],
  [{ schemas: ["app"], role: "none" }, /role is "none"/],
  [{ schemas: ["app"], role: "" }, /role is ""/],
  [{ schemas: ["app"], timeout: 0 }, /timeout is 0; use/],
  [{ schemas: ["app"], timeout: "30d" }, /use a duration from 1ms to 24d/],
  [{ schemas: ["app"], lockTimeout: 0 }, /lockTimeout is 0; use/],
  [
    { schemas: ["app"], maxResultBytes: 2_000_000 },
    /maxResultBytes is 2000000; use a whole number from 1 to 1048576/,
  ],
  [{ schemas: ["app"], url: "postgres://localhost/" }, /either a url or a pool/],
  [{ schemas: ["app"], connections: 0 }, /connections is 0/],
]

for (const [options, words] of MISTAKES) {
  test(`${JSON.stringify(options)} is refused when the task is defined`, () => {
    assert.throws(
      () => sqlFunctions({ pool, ...options } as SqlFunctionsOptions),
      (error: BelfryError) => {
        assert.equal(error.code, "BELFRY_TASK_INVALID")
        assert.match(error.message, words)
        return true
      },
    )
  })
}

test("an unreachable database fails the run with a message", async () => {
  const unreachable = closedPool()

  const report = await performTask(sqlFunctions({ pool: unreachable.pool, schemas: ["app"] }), {
    function: "f",
  }).ended

  assert.deepEqual(report, {
    success: false,
    message: "PostgreSQL can't be used: ECONNREFUSED",
    details: { sqlstate: null },
  })
})

test("a run that is aborted while it waits for a connection ends at once, and returns the connection later", async () => {
  const controller = new AbortController()
  let released: boolean | undefined | "no" = "no"
  let arrive: () => void = () => undefined
  const client = {
    query: () => assert.fail("the connection was used"),
    release: (destroy?: boolean) => {
      released = destroy
    },
  }
  const slow = {
    connect: () =>
      new Promise<typeof client>((resolve) => {
        arrive = () => resolve(client)
      }),
    end: async () => undefined,
  }
  const { ended } = performTask(
    sqlFunctions({ pool: slow, schemas: ["app"] }),
    { function: "f" },
    { signal: controller.signal },
  )
  await new Promise(setImmediate)

  controller.abort(new Error("The run was cancelled"))

  await assert.rejects(ended, /The run was cancelled/)
  arrive()
  await new Promise(setImmediate)
  assert.equal(released, undefined)
})

test("closing the task doesn't end the user's pool", async () => {
  const mine = closedPool()
  const own = sqlFunctions({ pool: mine.pool, schemas: ["app"] })
  await performTask(own, { function: "f" }).ended

  await own.close()

  assert.deepEqual(mine.asked, ["connect"])
})
