import assert from "node:assert/strict"
import { once } from "node:events"
import pg from "pg"
import { describe, inject, onTestFinished, test } from "vitest"
import { faultProxy } from "../../support/fault-proxy.ts"
import { type PgBouncer, startPgBouncer } from "../../support/pgbouncer.ts"
import { performTask } from "../../support/task-run.ts"
import { ManualClock } from "./manual-clock.ts"
import { until } from "./scratch.ts"
import { detectsLostClients, NAP, slowFunctions, WAIT } from "./sql-stopping.ts"

/** When a process or a connection breaks, its function is ended on the server and its work is rolled back. */

const self = slowFunctions()
const { seen, untilBusy, untilIdle } = self

test("the function of a killed worker is ended by the server, and its work is rolled back", async ({
  skip,
}) => {
  skip(!(await detectsLostClients(self.psql)), "the server does not detect lost clients")
  const worker = self.startWorker()
  await untilBusy()

  worker.kill("SIGKILL")
  await once(worker, "exit")

  await untilIdle()
  assert.deepEqual(await seen(), [])
})

describe("a network that fails", () => {
  test("during a function fails the run, and the process continues", async () => {
    const { proxy, task } = await faulty()
    await self.blockWaits()
    const { ended } = performTask(task, WAIT)
    await untilBusy()

    proxy.cut()

    const { success, message } = await ended
    assert.equal(success, false)
    assert.match(message, /^PostgreSQL can't be used: /)
    await self.unblockWaits()
    await untilIdle()
    assert.deepEqual(await seen(), [])
    assert.equal((await performTask(task, { ...NAP, payload: 0 }).ended).success, true)
  })

  test("during the commit fails the run, and the message says that the work may be committed", async () => {
    const { proxy, task } = await faulty()
    const lost = proxy.loseAnswer("commit")

    const { success, message } = await performTask(task, { ...NAP, payload: 0 }).ended

    await lost
    assert.equal(success, false)
    assert.match(
      message,
      /^The connection broke while the changes of app\.naps\(jsonb\) were being committed\. It is not known whether they were/,
    )
    assert.deepEqual(await seen(), ["before", "after"])
  })

  test("and drops cancel requests delays an aborted run only until the requests time out", async () => {
    const { proxy, task, clock } = await faulty()
    const controller = new AbortController()
    await self.blockWaits()
    const { ended } = performTask(task, WAIT, { signal: controller.signal })
    await untilBusy()

    proxy.blackhole()
    controller.abort(new Error("enough"))

    await rejectsAsTimePasses(ended, clock)
    await self.unblockWaits()
    await untilIdle()
    assert.deepEqual(await seen(), [], "the function ended, but its work was not committed")
  })

  async function faulty() {
    const [proxy, clock] = [await faultProxy(inject("postgres").port), new ManualClock()]
    onTestFinished(() => proxy.close())
    return { proxy, clock, task: self.task(proxy.through(self.url), { clock }) }
  }
})

describe("behind PgBouncer, in transaction mode", () => {
  test("functions are called and cancelled, and leave no settings on the connection", async () => {
    const address = (await bouncer(3)).through(self.url)
    const task = self.task(address, { connections: 2, clock: new ManualClock() })
    const controller = new AbortController()
    await self.blockWaits()
    const dropped = performTask(task, WAIT, { signal: controller.signal }).ended
    const kept = performTask(task, WAIT).ended
    await untilBusy(2)

    controller.abort(new Error("enough"))

    await assert.rejects(dropped, /enough/)
    await self.unblockWaits()
    assert.equal((await kept).success, true)
    assert.deepEqual(await seen(), ["before", "after"])
    const client = new pg.Client(address)
    await client.connect()
    const { rows } = await client.query(
      "select current_setting('belfry.run_id', true) as id, current_setting('statement_timeout') as timeout, current_setting('search_path') as path",
    )
    await client.end()
    assert.deepEqual([rows[0].id || "", rows[0].timeout, rows[0].path], ["", "0", '"$user", public'])
  })

  test("a function is ended although no connection is free for a cancel request", async ({ skip }) => {
    skip(!(await detectsLostClients(self.psql)), "the server does not detect lost clients")
    const clock = new ManualClock()
    const task = self.task((await bouncer(1)).through(self.url), { clock })
    const controller = new AbortController()
    const { ended } = performTask(task, NAP, { signal: controller.signal })
    await untilBusy()

    controller.abort(new Error("enough"))

    await rejectsAsTimePasses(ended, clock)
    await untilIdle()
    assert.deepEqual(await seen(), [])
  })

  async function bouncer(poolSize: number): Promise<PgBouncer> {
    const started = await startPgBouncer(inject("postgres"), { poolSize })
    onTestFinished(() => started.stop())
    return started
  }
})

/** Advances the clock until all cancel requests of the task have timed out. */
async function rejectsAsTimePasses(ended: Promise<unknown>, clock: ManualClock): Promise<void> {
  let isOver = false
  const rejected = assert.rejects(ended, /enough/).finally(() => {
    isOver = true
  })
  await until(() => {
    clock.advance(1_200)
    return isOver
  })
  await rejected
}
