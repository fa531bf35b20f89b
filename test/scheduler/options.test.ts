import assert from "node:assert/strict"
import { test } from "vitest"
import { type BelfryError, createScheduler, memory, type SchedulerOptions } from "../../src/index.ts"
import { postgres } from "../../src/postgres.ts"

const REFUSED: readonly (readonly [string, object, string, RegExp])[] = [
  [
    "no slots",
    { concurrency: 0 },
    "BELFRY_SCHEDULER_INVALID",
    /concurrency is 0; use a whole number from 1 to 10000/,
  ],
  ["half a slot", { concurrency: 0.5 }, "BELFRY_SCHEDULER_INVALID", /concurrency is 0.5/],
  [
    "a lease below the minimum",
    { lease: "50ms" },
    "BELFRY_SCHEDULER_INVALID",
    /lease is "50ms"; use a duration from 100ms to 7d/,
  ],
  [
    "a poll interval below the minimum",
    { pollInterval: 1 },
    "BELFRY_SCHEDULER_INVALID",
    /pollInterval is 1; use a duration from 10ms/,
  ],
  [
    "a lease that is not a duration",
    { lease: "long" },
    "BELFRY_DURATION_INVALID",
    /lease is "long", which is not a duration/,
  ],
  [
    "a retention that is not a duration",
    { retention: { age: "ever" } },
    "BELFRY_DURATION_INVALID",
    /retention.age is "ever"/,
  ],
]
const STORES_AS_TEXT: readonly (readonly [string, string])[] = [
  ["redis://x", 'use redis("redis://x") of belfry/redis'],
  ["rediss://:secret@x", 'use redis("rediss://:***@x") of belfry/redis'],
  ["postgres://x/app", 'use postgres("postgres://x/app") of belfry/postgres'],
  ["postgresql://x/app", 'use postgres("postgresql://x/app") of belfry/postgres'],
  ["sqlite:./jobs", 'use sqlite("./jobs") of belfry/sqlite'],
  ["./belfry.db", 'use sqlite("./belfry.db") of belfry/sqlite'],
]
test.each(STORES_AS_TEXT)(
  "the address %s is refused as a store, with the function to use",
  (store, remedy) => {
    assert.throws(() => createScheduler({ store: store as never }), {
      code: "BELFRY_SCHEDULER_INVALID",
      message: `createScheduler: store is text; ${remedy}.`,
    })
  },
)

test("text that is no address of a store is refused like any other value", () => {
  assert.throws(() => createScheduler({ store: "memory" as never }), {
    message: 'createScheduler: store is "memory"; use a store, such as memory().',
  })
})

for (const [name, options, code, message] of REFUSED) {
  test(`${name} is refused by createScheduler`, () => {
    assert.throws(() => createScheduler({ store: memory(), ...(options as Partial<SchedulerOptions>) }), {
      code,
      message,
    })
  })
}

test("createScheduler doesn't use the store; the first operation opens it", async () => {
  const calls: string[] = []
  const store = new Proxy(memory(), {
    get(target, name) {
      calls.push(String(name))
      return Reflect.get(target, name)
    },
  })

  const scheduler = createScheduler({ store })
  assert.deepEqual(calls, [])
  await scheduler.runs.list()
  assert.equal(calls[0], "open")
})

test("a stop timeout that is not a duration is refused", () => {
  const scheduler = createScheduler({ store: memory() })

  assert.throws(() => scheduler.stop({ timeout: "soon" as "1s" }), { code: "BELFRY_DURATION_INVALID" })
})

test("the error for a refused address doesn't contain the address, because it may contain a password", () => {
  const address = "postgres://user:secret@\0host/"

  assert.throws(
    () => postgres(address),
    (error: BelfryError) => {
      assert.equal(error.message, "postgres: url is not the address of a server.")
      assert.ok(!JSON.stringify(error.details).includes("secret"))
      return true
    },
  )
})
