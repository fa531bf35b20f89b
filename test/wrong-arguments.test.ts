import assert from "node:assert/strict"
import { BelfryError, createScheduler, defineTask, memory, silentLogger } from "belfry"
import { createLocks, memoryLocks } from "belfry/lock"
import { inspect as inspectPostgres, postgres, postgresLocks, sqlFunctions } from "belfry/postgres"
import { redis, redisLocks } from "belfry/redis"
import { inspect as inspectSqlite, sqlite, sqliteLocks } from "belfry/sqlite"
import { commandTask, httpTask } from "belfry/tasks"
import { createTestScheduler, createVirtualClock } from "belfry/testing"
import { describe, test } from "vitest"

// A wrong argument is refused with a BelfryError that names the option, neither ignored nor refused by a TypeError of JavaScript.

type Case = readonly [title: string, call: () => unknown, option: string]

const scheduler = createScheduler({ store: memory(), logger: silentLogger })
const { schedules, runs } = scheduler
const task = defineTask({ name: "t", run: () => undefined })
const aTestScheduler = () => createTestScheduler({ tasks: [task] })
/** A value as a program without types could pass it. */
const wrong = (value: unknown) => value as never
const HOURLY = { task: "t", every: "1h" } as const

describe("stores and locks", () => {
  cases([
    ["redis without a server", () => redis(wrong(undefined)), "server"],
    ["redis with an object of options", () => redis(wrong({ url: "redis://h" })), "server"],
    ["redis with a URL object", () => redis(wrong(new URL("redis://h"))), "server"],
    ["redis with a NUL in the address", () => redis("a\0b"), "server"],
    ["redis with an invalid % escape in the address", () => redis("redis://:p%ss@h/0"), "url"],
    ["redis with a database that isn't a number", () => redis("redis://h/abc"), "url"],
    ["redisLocks with an object of options", () => redisLocks(wrong({ url: "redis://h" })), "urlOrClient"],
    ["postgres with an address of another kind", () => postgres("no"), "url"],
    ["postgres with a blank address", () => postgres(" "), "url"],
    ["postgres with an address without //", () => postgres("postgres:bob:secret@h"), "url"],
    ["postgres with an unknown parameter", () => postgres("postgres://h/d?belfry_shcema=x"), "url"],
    ["postgres with an invalid schema name", () => postgres("postgres://h/d?belfry_schema=A-b"), "schema"],
    [
      "postgres with a second argument",
      () => callWith(postgres, "postgres://h/d", { schema: "x" }),
      "options",
    ],
    ["postgresLocks without a server", () => postgresLocks(wrong(undefined)), "urlOrPool"],
    [
      "postgresLocks with an object of options",
      () => postgresLocks(wrong({ url: "postgres://h" })),
      "urlOrPool",
    ],
    ["postgresLocks with a number", () => postgresLocks(wrong(5)), "urlOrPool"],
    ["inspect of PostgreSQL with an address of another kind", () => inspectPostgres("no"), "url"],
    ["sqlite with a second argument", () => callWith(sqlite, ":memory:", { durability: "full" }), "options"],
    ["sqliteLocks without a path", () => sqliteLocks(wrong(undefined)), "path"],
    ["sqliteLocks with an object of options", () => sqliteLocks(wrong({ path: "x" })), "path"],
    ["sqliteLocks with a second argument", () => callWith(sqliteLocks, "x.db", {}), "options"],
    ["inspect of SQLite with a number", () => inspectSqlite(wrong(5)), "path"],
    ["memory with options", () => callWith(memory, { path: "x" }), "options"],
    ["memoryLocks with options", () => callWith(memoryLocks, {}), "options"],
  ])
})

describe("values in place of an object of options", () => {
  const others = [Promise.resolve({}), new Map(), new Set(), new Date(0), /x/, new Error("x"), [], "x", 5]
  cases([
    [
      "schedules.update without changes",
      () => schedules.update("s", wrong(undefined), { ifRevision: 1 }),
      "changes",
    ],
    ["schedules.update with null", () => schedules.update("s", wrong(null), { ifRevision: 1 }), "changes"],
    ...others.flatMap((other): readonly Case[] => {
      const given = wrong(other)
      const kind = Object.prototype.toString.call(other)
      return [
        [`enqueue with ${kind}`, () => scheduler.enqueue("t", given), "options"],
        [`schedules.create with ${kind}`, () => schedules.create("s", given), "options"],
        [`schedules.update with ${kind}`, () => schedules.update("s", given, { ifRevision: 1 }), "changes"],
        [`schedules.trigger with ${kind}`, () => schedules.trigger("s", given), "options"],
        [`schedules.preview with ${kind}`, () => schedules.preview("s", 1, given), "options"],
        [`runs.list with ${kind}`, () => runs.list(given), "options"],
        [`stop with ${kind}`, () => createScheduler({ store: memory() }).stop(given), "options"],
        [`createScheduler with ${kind}`, () => createScheduler(given), "options"],
        [
          `createScheduler with hooks ${kind}`,
          () => createScheduler({ store: memory(), hooks: given }),
          "hooks",
        ],
        [`defineTask with retry ${kind}`, () => defineTask({ name: "t", run() {}, retry: given }), "retry"],
        [`task.schedule with ${kind}`, () => task.schedule("s", given), "options"],
      ]
    }),
  ])
})

describe("values in place of a task", () => {
  const notTasks = [{ name: "t" }, new Error("t"), {}, new Map([["name", "t"]])]
  cases(
    notTasks.flatMap((given, index): readonly Case[] => [
      [
        `schedules.create with notTasks[${index}]`,
        () => schedules.create("s", { ...HOURLY, task: wrong(given) }),
        "task",
      ],
      [`enqueue with notTasks[${index}]`, () => scheduler.enqueue(wrong(given)), "task"],
      [`runs.list with notTasks[${index}]`, () => runs.list({ task: wrong(given) }), "task"],
    ]),
  )
})

describe("payloads that can't be written as JSON", () => {
  const payloads = [
    new Map(),
    new Set(),
    Promise.resolve(1),
    /x/,
    new Error("x"),
    new Date(Number.NaN),
    new Uint8Array(1),
  ]
  cases(
    payloads.flatMap((payload): readonly Case[] => {
      const kind = Object.prototype.toString.call(payload)
      return [
        [`enqueue with the payload ${kind}`, () => scheduler.enqueue("t", { payload: payload }), "payload"],
        [
          `enqueue with a payload that contains ${kind}`,
          () => scheduler.enqueue("t", { payload: { deep: [payload] } }),
          "payload",
        ],
        [
          `schedules.create with the payload ${kind}`,
          () => schedules.create("s", { ...HOURLY, payload: wrong(payload) }),
          "payload",
        ],
      ]
    }),
  )

  test("a payload of dates, boxed values and class instances is stored as JSON", async () => {
    class Point {
      x = 1
    }
    const payload = { at: new Date(0), text: Object("a"), point: new Point(), list: [Object(5)], none: null }

    const { runId } = await scheduler.enqueue("t", { payload: payload })

    const kept = { at: "1970-01-01T00:00:00.000Z", text: "a", point: { x: 1 }, list: [5], none: null }
    assert.deepEqual((await runs.get(runId))?.payload, kept)
  })
})

describe("values that are past or not allowed", () => {
  cases([
    [
      "schedules.create with endsAt in the past",
      () => schedules.create("s", { task: "t", cron: "0 0 1 1 *", endsAt: 0 }),
      "endsAt",
    ],
    ["schedules.create with at in the past", () => schedules.create("s", { task: "t", at: 0 }), "at"],
    [
      "schedules.pause with until in the past",
      async () => schedules.pause((await schedules.create("p", HOURLY)).id, { until: 0 }),
      "until",
    ],
    ["acquire with an empty name", () => createLocks(memoryLocks()).acquire(""), "name"],
    ["httpTask with an invalid allowNet", () => httpTask({ allowNet: ["no net"] }), "allowNet"],
    [
      "commandTask with argv that isn't a list",
      () => commandTask({ commands: { a: { argv: wrong("ls") } } }),
      "argv",
    ],
    [
      "commandTask with a Map as args",
      () => commandTask({ commands: { a: { argv: ["ls"], args: wrong(new Map()) } } }),
      "args",
    ],
    ["sqlFunctions without schemas", () => sqlFunctions({ url: "postgres://h/d", schemas: [] }), "schemas"],
    ["createVirtualClock with an invalid start", () => createVirtualClock(wrong("soon")), "startAt"],
    ["createVirtualClock with a symbol as seed", () => createVirtualClock(0, wrong(Symbol("x"))), "seed"],
    ["waitFor with a Map as query", async () => (await aTestScheduler()).waitFor(wrong(new Map())), "query"],
  ])

  test("waitFor without a query waits for any run", async () => {
    const test = await aTestScheduler()
    await test.scheduler.enqueue(task)

    assert.equal((await test.waitFor(wrong(undefined))).task, "t")
    await test.stop()
  })
})

function cases(all: readonly Case[]): void {
  test.each(all)("%s is refused, and the error names the option", async (_title, call, option) => {
    await assert.rejects(
      async () => call(),
      (error) => {
        assert.ok(error instanceof BelfryError, String(error))
        assert.equal(error.details["option"], option, error.message)
        return true
      },
    )
  })
}

function callWith(
  called: (first: never, second?: never) => unknown,
  first: unknown,
  second?: unknown,
): unknown {
  return called(first as never, second as never)
}
