import assert from "node:assert/strict"
import { createScheduler, defineTask, type Scheduler, silentLogger } from "belfry"
import pg from "pg"
import { afterEach, beforeEach, describe, test } from "vitest"
import * as z from "zod"
import { DEFAULT_RETRY } from "../../../src/core/run/backoff.ts"
import { fail, type Run } from "../../../src/core/run/run.ts"
import { aRunOf, LONG_MS } from "../../../src/store/laws/factories.ts"
import { running } from "../../../src/store/laws/steps.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { aStoreOn, until } from "./scratch.ts"

/** The user's writes and Belfry's in one transaction: both are committed, or neither is. */

let pool: pg.Pool
let scheduler: Scheduler
let behave: (context: {
  client: pg.PoolClient
  complete(result?: unknown): Promise<void>
  progress(fraction: number, message?: string): void
}) => Promise<unknown>

const charge = defineTask({
  name: "charge",
  payload: z.any(),
  retry: { attempts: 2, delay: 10 },
  async run({ complete, progress }) {
    const client = await pool.connect()
    try {
      return await behave({ client, complete: (result) => complete(client, result), progress })
    } finally {
      client.release()
    }
  },
})

beforeEach(async () => {
  pool = new pg.Pool({ connectionString: await migratedDatabase(), max: 5 })
  await pool.query("create table orders (id text primary key)")
  scheduler = createScheduler({
    store: aStoreOn(pool),
    tasks: [charge],
    pollInterval: "1h",
    logger: silentLogger,
  })
})

afterEach(async () => {
  await scheduler.stop()
  await pool.end()
})

describe("enqueue and schedule changes inside the user's transaction", () => {
  test("are visible after the commit, and the run is performed at once", async () => {
    behave = async () => undefined
    await scheduler.start()
    const client = await pool.connect()
    await client.query("begin")
    await client.query("insert into orders values ('o1')")
    const { runId } = await scheduler.within(client).enqueue(charge, { payload: { order: "o1" }, key: "o1" })
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.equal(await scheduler.runs.get(runId), null, "the run is not visible before the commit")
    await client.query("commit")
    client.release()

    const run = await scheduler.runs.wait(runId, { timeout: "2m" })
    assert.equal(run?.state, "succeeded")
  })

  test("have no effect after a rollback", async () => {
    const client = await pool.connect()
    await client.query("begin")
    await client.query("insert into orders values ('o1')")
    const within = scheduler.within(client)
    const { runId } = await within.enqueue(charge, { payload: { order: "o1" } })
    await within.schedules.create("nightly", { task: "charge", cron: "0 3 * * *" })
    await client.query("rollback")
    client.release()

    assert.equal(await scheduler.runs.get(runId), null)
    assert.equal(await scheduler.schedules.get("nightly"), null)
    assert.equal((await pool.query("select 1 from orders")).rowCount, 0)
  })

  test("may create, change and trigger a schedule", async () => {
    const client = await pool.connect()
    await client.query("begin")
    const { schedules } = scheduler.within(client)
    await schedules.create("nightly", { task: "charge", cron: "0 3 * * *" })
    await schedules.pause("nightly", { reason: "not yet" })
    await schedules.trigger("nightly")
    await client.query("commit")
    client.release()

    assert.equal((await scheduler.schedules.get("nightly"))?.paused?.reason, "not yet")
    assert.equal((await scheduler.runs.list({ schedule: "nightly" })).items.length, 1)
  })
})

describe("complete() inside a task's transaction", () => {
  test("the task's writes and the run's end are committed together", async () => {
    behave = async ({ client, complete }) => {
      await client.query("begin")
      await client.query("insert into orders values ('o1')")
      await complete({ success: true, message: "Charged", details: { cents: 100 } })
      const seen = await pool.query("select state from belfry.runs")
      assert.deepEqual(seen.rows, [{ state: "running" }], "the end is not visible before the commit")
      await client.query("commit")
    }

    const run = await performed()
    assert.deepEqual([run.state, run.message, run.details], ["succeeded", "Charged", { cents: 100 }])
    assert.equal((await pool.query("select 1 from orders")).rowCount, 1)
    assert.equal(run.attempts.length, 1)
  })

  test("the progress reported before is stored with the end", async () => {
    behave = async ({ client, complete, progress }) => {
      progress(0.25)
      progress(1, "charged")
      await client.query("begin")
      await complete()
      await client.query("commit")
    }

    const run = await performed()
    assert.deepEqual([run.state, run.progress], ["succeeded", { fraction: 1, message: "charged" }])
  })

  test("an error after the commit changes nothing", async () => {
    behave = async ({ client, complete }) => {
      await client.query("begin")
      await complete()
      await client.query("commit")
      throw new Error("the mail server is away")
    }

    assert.equal((await performed()).state, "succeeded")
  })

  test("a result with success: false is recorded as a failed attempt, and tried again", async () => {
    let attempts = 0
    behave = async ({ client, complete }) => {
      const isFirst = ++attempts === 1
      await client.query("begin")
      await client.query(`insert into orders values ('o${attempts}')`)
      await complete({ success: !isFirst, message: isFirst ? "Declined" : "Charged", details: { attempts } })
      await client.query("commit")
    }

    const run = await performed()
    assert.deepEqual([run.state, run.message, run.details], ["succeeded", "Charged", { attempts: 2 }])
    assert.deepEqual(
      run.attempts.map(({ outcome, error }) => [outcome, error]),
      [
        ["failed", "Declined"],
        ["succeeded", null],
      ],
    )
    assert.equal(
      (await pool.query("select 1 from orders")).rowCount,
      2,
      "the writes of each attempt are committed",
    )
  })

  test("after the last attempt the run is failed, with message, details and error", async () => {
    behave = async ({ client, complete }) => {
      await client.query("begin")
      await complete({ success: false, message: "Declined", details: { code: 51 } })
      await client.query("commit")
    }

    const run = await performed()
    assert.deepEqual([run.state, run.success, run.failures], ["failed", false, 2])
    assert.deepEqual([run.message, run.details, run.error], ["Declined", { code: 51 }, "Declined"])
  })

  test("an error after a committed failure changes nothing", async () => {
    behave = async ({ client, complete }) => {
      await client.query("begin")
      await complete({ success: false, message: "Declined" })
      await client.query("commit")
      throw new Error("the mail server is away")
    }

    const run = await performed()
    assert.deepEqual([run.state, run.error, run.failures], ["failed", "Declined", 2])
  })

  test("a second call in the same transaction is refused, and the first is kept", async () => {
    const errors: unknown[] = []
    behave = async ({ client, complete }) => {
      await client.query("begin")
      await complete({ success: true, message: "first" })
      await complete({ success: false, message: "second" }).catch((error) => errors.push(error.code))
      await client.query("commit")
    }

    const run = await performed()
    assert.deepEqual([run.state, run.message, run.attempts.length], ["succeeded", "first", 1])
    assert.deepEqual(errors, ["BELFRY_RUN_STATE"])
  })

  test("after a rollback the transaction can be repeated in the same attempt", async () => {
    behave = async ({ client, complete }) => {
      for (const end of ["rollback", "commit"]) {
        await client.query("begin")
        await complete({ success: true, message: end })
        await client.query(end)
      }
    }

    const run = await performed()
    assert.deepEqual([run.state, run.message, run.attempts.length], ["succeeded", "commit", 1])
  })

  test("a rollback without another try fails the attempt, and the next attempt is made", async () => {
    let attempts = 0
    behave = async ({ client, complete }) => {
      await client.query("begin")
      await client.query("insert into orders values ('o1')")
      await complete()
      await client.query(++attempts === 1 ? "rollback" : "commit")
    }

    const run = await performed()
    assert.equal(run.state, "succeeded")
    assert.match(run.attempts[0]!.error!, /was not committed/)
    assert.equal((await pool.query("select 1 from orders")).rowCount, 1)
  })

  test("a run that was cancelled meanwhile can't be completed, so the task rolls its writes back", async () => {
    const errors: string[] = []
    behave = async ({ client, complete }) => {
      await client.query("begin")
      await client.query("insert into orders values ('o1')")
      const [run] = (await scheduler.runs.list({ task: "charge" })).items
      await scheduler.runs.cancel(run!.id)
      try {
        await complete()
        await client.query("commit")
      } catch (error) {
        errors.push((error as Error).message)
        await client.query("rollback")
      }
    }

    assert.equal((await performed()).state, "cancelled")
    // The run ends before the task does.
    await until(() => errors.length > 0)
    assert.match(errors[0]!, /no longer held by this attempt/)
    assert.equal((await pool.query("select 1 from orders")).rowCount, 0)
  })
})

async function performed() {
  await scheduler.start()
  const { runId } = await scheduler.enqueue(charge)
  const run = await scheduler.runs.wait(runId, { timeout: "2m" })
  return run ?? assert.fail("the run is missing")
}

describe("the end of a run inside the user's transaction", () => {
  const nightly = { task: "charge", cron: "0 3 1 1 *", overlap: "allow" } as const

  test("does not block other ends of its schedule, and is counted at the commit", async () => {
    await scheduler.schedules.create("nightly", nightly)
    const [within, beside] = [await aRun("within"), await aRun("beside")]
    const store = aStoreOn(pool)
    await store.open()
    const client = await pool.connect()
    await client.query("begin")
    await store.within(client).transition([fail(within, BROKEN, DEFAULT_RETRY, 0)])

    const [answer] = await store.transition([fail(beside, BROKEN, DEFAULT_RETRY, 0)])
    const before = await scheduler.schedules.get("nightly")
    await client.query("commit")
    client.release()

    assert.deepEqual(answer, { outcome: "done" })
    assert.equal(before!.failuresInARow, 1)
    assert.equal((await scheduler.schedules.get("nightly"))!.failuresInARow, 2)
    assert.equal((await pool.query("select 1 from belfry.deferred_ends")).rowCount, 0, "no row is left")
  })

  test("is not counted after a rollback", async () => {
    await scheduler.schedules.create("nightly", nightly)
    const run = await aRun("within")
    const store = aStoreOn(pool)
    await store.open()
    const client = await pool.connect()
    await client.query("begin")
    await store.within(client).transition([fail(run, BROKEN, DEFAULT_RETRY, 0)])
    await client.query("rollback")
    client.release()

    const { lastState, failuresInARow } = (await scheduler.schedules.get("nightly"))!
    assert.deepEqual([lastState, failuresInARow], [null, 0])
  })

  async function aRun(id: string): Promise<Run> {
    const store = aStoreOn(pool)
    await store.open()
    return running(store, aRunOf("nightly", { id, task: id }), { tasks: [{ name: id, leaseMs: LONG_MS }] })
  }

  const BROKEN = {
    outcome: "failed",
    error: "Broken",
    retry: "never",
    output: { message: null, details: null },
  } as const
})
