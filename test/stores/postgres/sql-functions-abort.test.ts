import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { createScheduler, silentLogger } from "belfry"
import { describe, onTestFinished, test } from "vitest"
import { performTask } from "../../support/task-run.ts"
import { ManualClock } from "./manual-clock.ts"
import { aStore, until } from "./scratch.ts"
import { NAP, slowFunctions, WAIT } from "./sql-stopping.ts"

/** When a run ends early, its function is ended on the server and its work is rolled back. */

const self = slowFunctions()
const { busy, seen, untilBusy } = self

describe("a run that is aborted", () => {
  test("has its function cancelled and rolled back on the server, and its connection is used again", async () => {
    const task = aTask({ connections: 1 })
    const controller = new AbortController()
    const { ended } = performTask(task, NAP, { signal: controller.signal })
    const [before] = await untilBusy()

    controller.abort(new Error("The run was cancelled"))

    await assert.rejects(ended, /The run was cancelled/)
    assert.deepEqual(await busy(), [], "the function has ended when the task has")
    assert.deepEqual(await seen(), [])
    const next = await performTask(task, { ...NAP, payload: 0 }).ended
    assert.deepEqual([next.success, next.details], [true, before], "the same backend process")
  })

  test("is stopped although all connections of the pool are busy", async () => {
    const task = aTask({ connections: 2 })
    const controllers = [new AbortController(), new AbortController()]
    const runs = controllers.map(({ signal }) => performTask(task, NAP, { signal }).ended)
    await untilBusy(2)

    for (const controller of controllers) controller.abort(new Error("stopping"))

    await Promise.all(runs.map((run) => assert.rejects(run, /stopping/)))
    assert.deepEqual(await busy(), [])
    assert.deepEqual(await seen(), [])
  })

  test("does not affect other runs of the same function and the same pool", async () => {
    const task = aTask()
    const controller = new AbortController()
    await self.blockWaits()
    const kept = performTask(task, WAIT).ended
    const dropped = performTask(task, WAIT, { signal: controller.signal }).ended
    await untilBusy(2)

    controller.abort(new Error("enough"))

    await assert.rejects(dropped, /enough/)
    await self.unblockWaits()
    assert.equal((await kept).success, true)
    assert.deepEqual(await seen(), ["before", "after"])
  })

  test("needs no special rights: an ordinary user can cancel what it runs as another role", async () => {
    const [user, role] = ["user", "role"].map((kind) => `${kind}_${new URL(self.url).pathname.slice(-6)}`)
    await self.psql.query(
      `create role ${user} login; create role ${role}; grant ${role} to ${user};
       grant usage on schema app to ${role}; grant insert on app.seen to ${role}`,
    )
    onTestFinished(
      async () => void (await self.psql.query(`drop owned by ${user}, ${role}; drop role ${user}, ${role}`)),
    )
    const address = new URL(self.url)
    address.username = user!
    const task = self.task(address.href, { role: role!, clock: new ManualClock() })
    const controller = new AbortController()
    const { ended, lines } = performTask(task, NAP, { signal: controller.signal })
    await untilBusy()

    controller.abort(new Error("enough"))

    await assert.rejects(ended, /enough/)
    await task.close()
    assert.deepEqual(lines, [])
    assert.deepEqual(await busy(), [])
    assert.deepEqual(await seen(), [])
  })

  test("has its connection terminated if its function catches the cancel request twice", async () => {
    const clock = new ManualClock()
    const controller = new AbortController()
    const { ended } = performTask(aTask({ clock }), { function: "deaf" }, { signal: controller.signal })
    const rejected = assert.rejects(ended, /enough/)
    await untilBusy()

    controller.abort(new Error("enough"))
    for (const lock of [101, 102]) {
      await until(() => isUniqueViolation(lock), "the function has caught the cancel request")
      clock.advance(STEP_MS)
    }

    await rejected
    assert.deepEqual(await busy(), [])
    assert.deepEqual(await seen(), [])
  })

  test("while its function ends either commits nothing or reports success", async () => {
    const task = aTask()
    await performTask(task, { ...NAP, payload: 0 }).ended
    for (let delayMs = 0; delayMs < 40; delayMs += 2) {
      await self.psql.query("truncate app.seen")
      const controller = new AbortController()
      const { ended } = performTask(task, { ...NAP, payload: 0.02 }, { signal: controller.signal })
      await sleep(delayMs)
      controller.abort(new Error("enough"))

      const isDone = await ended.then(
        ({ success }) => success,
        () => false,
      )

      assert.deepEqual(await seen(), isDone ? ["before", "after"] : [], `after ${delayMs} ms`)
    }
  })
})

describe("in a scheduler", () => {
  test("the function of a cancelled run is ended", async () => {
    const { scheduler, runId } = await running()

    await scheduler.runs.cancel(runId)

    await self.untilIdle()
    assert.equal((await scheduler.runs.get(runId))?.state, "cancelled")
    assert.deepEqual(await seen(), [])
  })

  test("a run that exceeds its timeout fails with a timeout, and its function is ended", async () => {
    const { scheduler, runId, clock } = await running()

    clock.advance(10 * 60_000)
    const run = await scheduler.runs.wait(runId, { timeout: "1h" })

    assert.equal(run?.error, "Timed out after 10m")
    assert.equal(run?.attempts.at(-1)?.outcome, "timeout")
    assert.deepEqual(await busy(), [])
    assert.deepEqual(await seen(), [])
  })

  test("the function of a run that another worker took over is ended", async () => {
    const { runId, clock } = await running({ timeout: "2h" })

    await self.psql.query(
      "update belfry.runs set worker_id = 'another', attempt = attempt + 1, claimable_at = now() + interval '1 hour' where id = $1",
      [runId],
    )
    // The next heartbeat.
    clock.advance(20 * 60_000)

    await self.untilIdle()
    assert.deepEqual(await seen(), [])
  })

  test("a stop releases the run, and closing the task waits until its function has ended", async () => {
    const { sql, scheduler } = await running()

    await scheduler.stop({ timeout: 0 })
    await sql.close()

    assert.deepEqual(await busy(), [])
    assert.deepEqual(await seen(), [])
    const { rows } = await self.psql.query(
      "select state, attempt from belfry.runs order by created_at desc limit 1",
    )
    assert.deepEqual(rows, [{ state: "pending", attempt: 1 }])
    const open =
      "select from pg_stat_activity where datname = current_database() and application_name = 'belfry'"
    await until(async () => (await self.psql.query(open)).rowCount === 0, "its connections are closed")
  })

  async function running({ timeout = "10m" }: { timeout?: "10m" | "2h" } = {}) {
    await self.psql.query("truncate belfry.runs")
    const [sql, clock] = [aTask(), new ManualClock()]
    const scheduler = createScheduler({
      store: aStore(self.url),
      tasks: [sql],
      lease: "1h",
      clock,
      logger: silentLogger,
    })
    onTestFinished(() => scheduler.stop({ timeout: 0 }))
    await scheduler.start()
    const { runId } = await scheduler.enqueue(sql, { payload: NAP, timeout, retry: { attempts: 1 } })
    await untilBusy()
    return { sql, scheduler, runId, clock }
  }
})

/** The time between the task's attempts to stop a function. */
const STEP_MS = 1_200

/** With the default clock, which is never advanced, the task makes only the first attempt to stop a function. */
function aTask(options: { connections?: number; clock?: ManualClock } = {}) {
  return self.task(self.url, { clock: new ManualClock(), ...options })
}

async function isUniqueViolation(lock: number): Promise<boolean> {
  const { rowCount } = await self.psql.query(
    "select from pg_locks where locktype = 'advisory' and objid = $1 and granted",
    [lock],
  )
  return rowCount === 1
}
