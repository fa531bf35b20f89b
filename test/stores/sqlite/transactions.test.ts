import assert from "node:assert/strict"
import { DatabaseSync as BundledDatabase } from "@photostructure/sqlite"
import { createScheduler, defineTask, type Scheduler, silentLogger } from "belfry"
import { sqlite } from "belfry/sqlite"
import { afterEach, beforeEach, describe, test } from "vitest"
import * as z from "zod"
import { aPath } from "./scratch.ts"

/** A user's writes and Belfry's in one transaction: both are committed, or neither. */

/** Node's own SQLite if this version of Node has one. */
const builtIn = process.getBuiltinModule?.("node:sqlite") as
  | { DatabaseSync: typeof BundledDatabase }
  | undefined
const DatabaseSync = builtIn?.DatabaseSync ?? BundledDatabase

let database: InstanceType<typeof BundledDatabase>
let scheduler: Scheduler
let behave: (complete: (result?: unknown) => Promise<void>) => Promise<unknown>

const charge = defineTask({
  name: "charge",
  payload: z.any(),
  retry: { attempts: 2, delay: 10 },
  run: ({ complete }) => behave((result) => complete(database, result)),
})

beforeEach(async () => {
  const path = aPath()
  scheduler = createScheduler({ store: sqlite(path), tasks: [charge], logger: silentLogger })
  await scheduler.schedules.list()
  database = new DatabaseSync(path)
  database.exec("create table orders (id text primary key)")
})

afterEach(async () => {
  await scheduler.stop()
  database.close()
})

const orders = () =>
  database
    .prepare("select id from orders order by id")
    .all()
    .map((row: unknown) => (row as { id: string }).id)

describe("enqueue and schedule changes inside the user's transaction", () => {
  test("after a commit, the run is stored and performed at once", async () => {
    behave = async () => undefined
    await scheduler.start()
    database.exec("begin immediate")
    database.exec("insert into orders values ('o1')")
    const { runId } = await scheduler
      .within(database)
      .enqueue(charge, { payload: { order: "o1" }, key: "o1" })
    assert.equal(await scheduler.runs.get(runId), null, "the run isn't visible before the commit")
    database.exec("commit")

    const run = await scheduler.runs.wait(runId, { timeout: "2m" })
    assert.equal(run?.state, "succeeded")
    assert.deepEqual(orders(), ["o1"])
  })

  test("after a rollback, neither the user's row nor the run and the schedule are stored", async () => {
    database.exec("begin immediate")
    database.exec("insert into orders values ('o1')")
    const within = scheduler.within(database)
    const { runId } = await within.enqueue(charge, { payload: { order: "o1" } })
    await within.schedules.create("nightly", { task: "charge", cron: "0 3 * * *" })
    database.exec("rollback")

    assert.equal(await scheduler.runs.get(runId), null)
    assert.equal(await scheduler.schedules.get("nightly"), null)
    assert.deepEqual(orders(), [])
  })

  test("a refused call changes nothing, and the transaction goes on", async () => {
    database.exec("begin immediate")
    const within = scheduler.within(database)
    await within.schedules.create("nightly", { task: "charge", cron: "0 3 * * *" })
    await assert.rejects(within.schedules.create("nightly", { task: "charge", cron: "0 4 * * *" }), {
      code: "BELFRY_SCHEDULE_EXISTS",
    })
    database.exec("insert into orders values ('o1')")
    database.exec("commit")

    assert.equal((await scheduler.schedules.get("nightly"))?.when, "0 3 * * *")
    assert.deepEqual(orders(), ["o1"])
  })
})

describe("complete", () => {
  const performed = async () => {
    await scheduler.start()
    return (await scheduler.enqueue(charge, { payload: 1 })).wait({ timeout: "1m" })
  }

  test("the run ends with the commit", async () => {
    behave = async (complete) => {
      database.exec("begin immediate")
      database.exec("insert into orders values ('o1')")
      await complete({ success: true, message: "charged" })
      database.exec("commit")
    }

    const run = await performed()

    assert.deepEqual([run?.state, run?.message, run?.attempt], ["succeeded", "charged", 1])
    assert.deepEqual(orders(), ["o1"])
  })

  test("after a rollback the attempt fails, and the next attempt does the work once", async () => {
    let attempt = 0
    behave = async (complete) => {
      attempt += 1
      database.exec("begin immediate")
      database.exec(`insert into orders values ('o${attempt}')`)
      await complete()
      if (attempt === 1) {
        database.exec("rollback")
        throw new Error("the card was refused")
      }
      database.exec("commit")
    }

    const run = await performed()

    assert.deepEqual([run?.state, run?.attempt], ["succeeded", 2])
    assert.deepEqual(orders(), ["o2"])
  })
})

describe("within() refuses everything except a transaction on the store's file", () => {
  const enqueue = (transaction: unknown) =>
    Promise.resolve().then(() => scheduler.within(transaction).enqueue(charge, { payload: 1 }))

  test.each([[null], [{}], [{ prepare: () => ({}) }], ["begin"]])("%j", async (transaction) => {
    await assert.rejects(enqueue(transaction), {
      code: "BELFRY_STORE_UNFIT",
      message: /^within\(\) was not given a SQLite connection/,
    })
  })

  test("another file", async () => {
    const other = new DatabaseSync(aPath())
    other.exec("begin")
    await assert.rejects(enqueue(other), {
      code: "BELFRY_STORE_UNFIT",
      message: /^The connection is to .*, and the store is in /,
    })
    other.close()
  })

  test("a connection on which no transaction has begun", async () => {
    await assert.rejects(enqueue(database), {
      code: "BELFRY_STORE_UNFIT",
      message: /^No transaction has begun on this connection, or it has ended/,
    })
    assert.equal((await scheduler.runs.list()).items.length, 0)
  })
})
