import assert from "node:assert/strict"
import * as belfry from "belfry"
import { BelfryError, createScheduler, defineTask, memory, silentLogger } from "belfry"
import * as config from "belfry/config"
import * as cron from "belfry/cron"
import * as lock from "belfry/lock"
import * as postgres from "belfry/postgres"
import * as redis from "belfry/redis"
import * as sqlite from "belfry/sqlite"
import * as store from "belfry/store"
import * as tasks from "belfry/tasks"
import * as testing from "belfry/testing"
import { describe, test } from "vitest"
import { commandTask } from "../src/tasks.ts"

// A misspelt option that is ignored would be a policy that silently doesn't apply. So every public function is called with one.

type Call = (options: never) => unknown

/** Reasons why a function isn't called with an unknown option. */
const NO_OPTIONS = "it takes no object of options"
const AT_RUN_TIME = "it is created while a task fails, and must not throw another error"
const WHEN_READ = "it returns its argument unchanged; the CLI checks the options when it reads the file"
const FOR_STORES = "it is for authors of stores and takes records"

const scheduler = createScheduler({ store: memory(), logger: silentLogger })
const { schedules, runs, journal } = scheduler
const locks = lock.createLocks(lock.memoryLocks())
const task = defineTask({ name: "t", run: () => undefined })
const every = cron.parse("@hourly")
const range = { from: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z" }
const DAILY = { task: "t", cron: "@daily" } as const
const url = "postgres://localhost/x"
const pool = { connect: () => assert.fail("the pool was used") }

const SOURCES: readonly (readonly [
  name: string,
  all: object,
  called: Readonly<Record<string, Call>>,
  others: Readonly<Record<string, string>>,
])[] = [
  [
    "belfry",
    belfry,
    {
      createScheduler: (options) => createScheduler({ store: memory(), ...(options as object) }),
      defineTask: (options) => defineTask({ name: "t", run: () => undefined, ...(options as object) }),
      jsonLogger: (options) => belfry.jsonLogger(options),
    },
    {
      BelfryError: NO_OPTIONS,
      RunAborted: NO_OPTIONS,
      memory: NO_OPTIONS,
      parseDuration: NO_OPTIONS,
      ...errorsOf(AT_RUN_TIME),
    },
  ],
  [
    "a task",
    task,
    {
      schedule: (options) => task.schedule("s", { cron: "@daily", ...(options as object) }),
    },
    { run: NO_OPTIONS },
  ],
  [
    "a scheduler",
    methodsOf(scheduler),
    {
      start: (options) => scheduler.start(options),
      stop: (options) => scheduler.stop(options),
      enqueue: (options) => scheduler.enqueue("t", options),
      enqueueMany: (options) => scheduler.enqueueMany("t", [options]),
      reconcile: (options) => scheduler.reconcile(options),
      workers: (options) => scheduler.workers(options),
      statistics: (options) => scheduler.statistics(options),
      search: (options) => scheduler.search("t", options),
    },
    { within: NO_OPTIONS, on: NO_OPTIONS, tasks: NO_OPTIONS, overview: NO_OPTIONS },
  ],
  ["scheduler.journal", methodsOf(journal), { list: (options) => journal.list(options) }, {}],
  [
    "scheduler.schedules",
    methodsOf(schedules),
    {
      create: (options) => schedules.create("s", { ...DAILY, ...(options as object) }),
      put: async (options) => {
        await assert.rejects(schedules.put("s", DAILY, options), /unheardOf is not an option/)
        return schedules.put("s", { ...DAILY, ...(options as object) })
      },
      apply: async (options) => {
        await assert.rejects(schedules.apply([], options), /unheardOf is not an option/)
        return schedules.apply([{ id: "s", ...DAILY, ...(options as object) }])
      },
      list: (options) => schedules.list(options),
      count: (options) => schedules.count(options),
      delete: async (options) => {
        await assert.rejects(schedules.delete(["s"], options), /unheardOf is not an option/)
        return schedules.delete("s", options)
      },
      resume: (options) => schedules.resume("s", options),
      restore: (options) => schedules.restore("s", 0, options),
      update: async (options) => {
        await assert.rejects(schedules.update("s", {}, options), /unheardOf is not an option/)
        return schedules.update("s", options, { ifRevision: 1 })
      },
      pause: async (options) => {
        await assert.rejects(schedules.pause(["s"], options), /unheardOf is not an option/)
        await assert.rejects(schedules.pause(options), /unheardOf is not an option/)
        return schedules.pause("s", options)
      },
      trigger: (options) => schedules.trigger("s", options),
      reschedule: (options) => schedules.reschedule("s", 0, options),
      skip: (options) => schedules.skip("s", 0, options),
      move: (options) => schedules.move("s", 0, 0, options),
      preview: (options) => schedules.preview("s", 1, options),
      occurrences: (options) => schedules.occurrences("s", options),
      listLints: (options) => schedules.listLints(options),
      planBackfill: (options) => schedules.planBackfill("s", { ...range, ...(options as object) }),
      backfill: (options) => {
        const plan = { ...range, which: "all", name: "n", scheduleId: "s", planId: "p", occurrences: [] }
        return schedules.backfill(plan as never, options)
      },
    },
    { get: NO_OPTIONS, lints: NO_OPTIONS },
  ],
  [
    "scheduler.runs",
    methodsOf(runs),
    {
      wait: (options) => runs.wait("r", options),
      list: (options) => runs.list(options),
      count: (options) => runs.count(options),
      cancel: async (options) => {
        await assert.rejects(runs.cancel(["r"], options), /unheardOf is not an option/)
        await assert.rejects(runs.cancel(options), /unheardOf is not an option/)
        return runs.cancel("r", options)
      },
      retry: (options) => runs.retry("r", options),
      release: (options) => runs.release("r", options),
      logs: (options) => runs.logs("r", options),
    },
    { get: NO_OPTIONS },
  ],
  [
    "belfry/cron",
    cron,
    {
      parse: (options) => cron.parse("@daily", options),
      occurrences: (options) => cron.occurrences(every, { after: 0, ...(options as object) }),
      lint: (options) => cron.lint(every, { now: 0, ...(options as object) }),
    },
    { BelfryError: NO_OPTIONS, next: NO_OPTIONS, previous: NO_OPTIONS, describe: NO_OPTIONS },
  ],
  [
    "belfry/lock",
    lock,
    {},
    {
      BelfryError: NO_OPTIONS,
      createLocks: NO_OPTIONS,
      memoryLocks: NO_OPTIONS,
      proveLockLaws: FOR_STORES,
    },
  ],
  [
    "locks",
    methodsOf(locks),
    {
      using: (options) => locks.using("l", options, () => undefined),
      acquire: (options) => locks.acquire("l", options),
      tryAcquire: (options) => locks.tryAcquire("l", options),
    },
    { close: NO_OPTIONS },
  ],
  [
    "belfry/postgres",
    postgres,
    {
      postgres: (options) => postgres.postgres({ url, ...(options as object) }),
      postgresLocks: (options) => postgres.postgresLocks(url, options),
      sqlFunctions: (options) =>
        postgres.sqlFunctions({ pool: pool as never, schemas: ["app"], ...(options as object) }),
    },
    { inspect: NO_OPTIONS },
  ],
  [
    "belfry/redis",
    redis,
    {
      redis: (options) => redis.redis("redis://localhost", options),
      redisLocks: (options) => redis.redisLocks("redis://localhost", options),
    },
    { inspect: NO_OPTIONS },
  ],
  [
    "belfry/sqlite",
    sqlite,
    { sqlite: (options) => sqlite.sqlite({ path: ":memory:", ...(options as object) }) },
    { sqliteLocks: NO_OPTIONS, inspect: NO_OPTIONS },
  ],
  [
    "belfry/tasks",
    tasks,
    {
      httpTask: (options) => tasks.httpTask(options),
      commandTask: (options) =>
        commandTask({ commands: { list: { run: ["ls"] } }, ...(options as object) } as never),
    },
    { webhookIdOf: NO_OPTIONS },
  ],
  [
    "belfry/testing",
    testing,
    {
      createTestScheduler: (options) => testing.createTestScheduler(options),
      waitForRun: async (options) => {
        await assert.rejects(testing.waitForRun(scheduler, options), /unheardOf is not an option/)
        return testing.waitForRun(scheduler, {}, options)
      },
    },
    { createVirtualClock: NO_OPTIONS },
  ],
  ["belfry/config", config, {}, { defineConfig: WHEN_READ }],
  ["belfry/store", store, {}, Object.fromEntries(functionsOf(store).map((name) => [name, FOR_STORES]))],
]

for (const [name, all, called, others] of SOURCES) {
  describe(name, () => {
    test(`each function of ${name} is called with an unknown option, or has a reason not to be`, () => {
      assert.deepEqual(functionsOf(all), [...Object.keys(called), ...Object.keys(others)].sort())
    })

    for (const [method, call] of Object.entries(called)) {
      test(`${method} of ${name} refuses an unknown option with its name`, async () => {
        await assert.rejects(
          async () => call({ unheardOf: 1 } as never),
          (error) => {
            assert.ok(error instanceof BelfryError, String(error))
            assert.match(error.message, /unheardOf is not an option/)
            return true
          },
        )
      })
    }
  })
}

function functionsOf(all: object): readonly string[] {
  return Object.entries(all)
    .flatMap(([name, value]) => (typeof value === "function" ? [name] : []))
    .sort()
}

/** The methods of the object's class. */
function methodsOf(object: object): object {
  const prototype: object = Object.getPrototypeOf(object)
  const methods = Object.entries(Object.getOwnPropertyDescriptors(prototype))
  return Object.fromEntries(
    methods.flatMap(([name, { value }]) => (name === "constructor" ? [] : [[name, value]])),
  )
}

function errorsOf(reason: string): Readonly<Record<string, string>> {
  return { DoNotRetry: reason, RetryAfter: reason }
}
