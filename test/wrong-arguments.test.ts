import assert from "node:assert/strict"
import { BelfryError, createScheduler, defineTask, memory, silentLogger } from "belfry"
import { createLocks, memoryLocks } from "belfry/lock"
import { inspect as inspectPostgres, postgres, postgresLocks, sqlFunctions } from "belfry/postgres"
import { redis, redisLocks } from "belfry/redis"
import { inspect as inspectSqlite, sqlite, sqliteLocks } from "belfry/sqlite"
import { commandTask, httpTask } from "belfry/tasks"
import { createTestScheduler, createVirtualClock } from "belfry/testing"
import { describe, test } from "vitest"

/** What is passed by mistake is refused in Belfry's words, with the name of the option: never by JavaScript, never silently. */

type Case = readonly [title: string, call: () => unknown, option: string]

const scheduler = createScheduler({ store: memory(), logger: silentLogger })
const { schedules, runs } = scheduler
const task = defineTask({ name: "t", run: () => undefined })
const kit = () => createTestScheduler({ tasks: [task] })
/** As a program without types would pass it. */
const wrong = (value: unknown) => value as never
const some = { task: "t", every: "1h" } as const

describe("where a store or locks are made", () => {
  cases([
    ["redis without a server", () => redis(wrong(undefined)), "server"],
    ["redis by an object of options", () => redis(wrong({ url: "redis://h" })), "server"],
    ["redis by a URL object", () => redis(wrong(new URL("redis://h"))), "server"],
    ["redis with a NUL in the address", () => redis("a\0b"), "server"],
    ["redis with a % that begins no character", () => redis("redis://:p%ss@h/0"), "url"],
    ["redis with a database that is no number", () => redis("redis://h/abc"), "url"],
    ["redisLocks by an object of options", () => redisLocks(wrong({ url: "redis://h" })), "urlOrClient"],
    ["postgres by another kind of address", () => postgres("no"), "url"],
    ["postgres by blanks", () => postgres(" "), "url"],
    ["postgres by an address without //", () => postgres("postgres:bob:secret@h"), "url"],
    ["postgres with an unknown parameter", () => postgres("postgres://h/d?belfry_shcema=x"), "url"],
    ["postgres with a schema that is no name", () => postgres("postgres://h/d?belfry_schema=A-b"), "schema"],
    [
      "postgres with a second argument",
      () => callWith(postgres, "postgres://h/d", { schema: "x" }),
      "options",
    ],
    ["postgresLocks without a server", () => postgresLocks(wrong(undefined)), "urlOrPool"],
    [
      "postgresLocks by an object of options",
      () => postgresLocks(wrong({ url: "postgres://h" })),
      "urlOrPool",
    ],
    ["postgresLocks by a number", () => postgresLocks(wrong(5)), "urlOrPool"],
    ["inspect of PostgreSQL by another kind of address", () => inspectPostgres("no"), "url"],
    ["sqlite with a second argument", () => callWith(sqlite, ":memory:", { durability: "full" }), "options"],
    ["sqliteLocks without a path", () => sqliteLocks(wrong(undefined)), "path"],
    ["sqliteLocks by an object of options", () => sqliteLocks(wrong({ path: "x" })), "path"],
    ["sqliteLocks with a second argument", () => callWith(sqliteLocks, "x.db", {}), "options"],
    ["inspect of SQLite by a number", () => inspectSqlite(wrong(5)), "path"],
    ["memory with options", () => callWith(memory, { path: "x" }), "options"],
    ["memoryLocks with options", () => callWith(memoryLocks, {}), "options"],
  ])
})

describe("where something else than an object of options comes", () => {
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
        [`enqueue: ${kind}`, () => scheduler.enqueue("t", given), "options"],
        [`schedules.create: ${kind}`, () => schedules.create("s", given), "options"],
        [`schedules.update: ${kind}`, () => schedules.update("s", given, { ifRevision: 1 }), "changes"],
        [`schedules.trigger: ${kind}`, () => schedules.trigger("s", given), "options"],
        [`schedules.preview: ${kind}`, () => schedules.preview("s", 1, given), "options"],
        [`runs.list: ${kind}`, () => runs.list(given), "options"],
        [`stop: ${kind}`, () => createScheduler({ store: memory() }).stop(given), "options"],
        [`createScheduler: ${kind}`, () => createScheduler(given), "options"],
        [
          `createScheduler, hooks: ${kind}`,
          () => createScheduler({ store: memory(), hooks: given }),
          "hooks",
        ],
        [`defineTask, retry: ${kind}`, () => defineTask({ name: "t", run() {}, retry: given }), "retry"],
        [`task.schedule: ${kind}`, () => task.schedule("s", given), "options"],
      ]
    }),
  ])
})

describe("where a task is named", () => {
  const notTasks = [{ name: "t" }, new Error("t"), {}, new Map([["name", "t"]])]
  cases(
    notTasks.flatMap((given, index): readonly Case[] => [
      [`schedules.create, ${index}`, () => schedules.create("s", { ...some, task: wrong(given) }), "task"],
      [`enqueue, ${index}`, () => scheduler.enqueue(wrong(given)), "task"],
      [`runs.list, ${index}`, () => runs.list({ task: wrong(given) }), "task"],
    ]),
  )
})

describe("where a payload can't be written as JSON", () => {
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
        [`enqueue: ${kind}`, () => scheduler.enqueue("t", { payload: payload }), "payload"],
        [
          `enqueue, inside: ${kind}`,
          () => scheduler.enqueue("t", { payload: { deep: [payload] } }),
          "payload",
        ],
        [
          `schedules.create: ${kind}`,
          () => schedules.create("s", { ...some, payload: wrong(payload) }),
          "payload",
        ],
      ]
    }),
  )

  test("what it can say is kept: dates, boxed values and instances", async () => {
    class Point {
      x = 1
    }
    const payload = { at: new Date(0), text: Object("a"), point: new Point(), list: [Object(5)], none: null }

    const { runId } = await scheduler.enqueue("t", { payload: payload })

    const kept = { at: "1970-01-01T00:00:00.000Z", text: "a", point: { x: 1 }, list: [5], none: null }
    assert.deepEqual((await runs.get(runId))?.payload, kept)
  })
})

describe("where a value has passed, or isn't allowed", () => {
  cases([
    ["endsAt", () => schedules.create("s", { task: "t", cron: "0 0 1 1 *", endsAt: 0 }), "endsAt"],
    ["at", () => schedules.create("s", { task: "t", at: 0 }), "at"],
    [
      "pause until",
      async () => schedules.pause((await schedules.create("p", some)).id, { until: 0 }),
      "until",
    ],
    ["a lock's name", () => createLocks(memoryLocks()).acquire(""), "name"],
    ["allowNet", () => httpTask({ allowNet: ["no net"] }), "allowNet"],
    ["argv", () => commandTask({ commands: { a: { argv: wrong("ls") } } }), "argv"],
    ["args", () => commandTask({ commands: { a: { argv: ["ls"], args: wrong(new Map()) } } }), "args"],
    ["schemas", () => sqlFunctions({ url: "postgres://h/d", schemas: [] }), "schemas"],
    ["a virtual clock's start", () => createVirtualClock(wrong("soon")), "startAt"],
    ["a virtual clock's seed", () => createVirtualClock(0, wrong(Symbol("x"))), "seed"],
    ["the kit's query", async () => (await kit()).waitFor(wrong(new Map())), "query"],
  ])

  test("a test that waits for any run may name none", async () => {
    const test = await kit()
    await test.scheduler.enqueue(task)

    assert.equal((await test.waitFor(wrong(undefined))).task, "t")
    await test.stop()
  })
})

function cases(all: readonly Case[]): void {
  test.each(all)("%s", async (_title, call, option) => {
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
