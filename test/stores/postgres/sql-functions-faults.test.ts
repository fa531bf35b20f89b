import assert from "node:assert/strict"
import { once } from "node:events"
import pg from "pg"
import { describe, inject, onTestFinished, test } from "vitest"
import { faultProxy } from "../../support/fault-proxy.ts"
import { type PgBouncer, startPgBouncer } from "../../support/pgbouncer.ts"
import { performTask } from "../../support/task-run.ts"
import { HandClock } from "./hand-clock.ts"
import { until } from "./scratch.ts"
import { isWatching, NAP, slowFunctions, WAIT } from "./sql-stopping.ts"

/** A process or a connection that breaks: its function ends on the server, and nothing that it did is committed. */

const self = slowFunctions()
const { seen, untilBusy, untilIdle } = self

test("a worker that is killed commits nothing, and the server ends its function by itself", async ({
  skip,
}) => {
  skip(!(await isWatching(self.psql)), "the server can't watch its clients")
  const worker = self.startWorker()
  await untilBusy()

  worker.kill("SIGKILL")
  await once(worker, "exit")

  await untilIdle()
  assert.deepEqual(await seen(), [])
})

describe("a network that fails", () => {
  test("in the middle of a function fails the run, and the program lives", async () => {
    const { proxy, task } = await faulty()
    await self.holdWaiting()
    const { ended } = performTask(task, WAIT)
    await untilBusy()

    proxy.cut()

    const { success, message } = await ended
    assert.equal(success, false)
    assert.match(message, /^PostgreSQL can't be used: /)
    await self.letGoOn()
    await untilIdle()
    assert.deepEqual(await seen(), [])
    assert.equal((await performTask(task, { ...NAP, payload: 0 }).ended).success, true)
  })

  test("while the work is being committed fails the run, and says that it may be done", async () => {
    const { proxy, task } = await faulty()
    const lost = proxy.loseAnswer("commit")

    const { success, message } = await performTask(task, { ...NAP, payload: 0 }).ended

    await lost
    assert.equal(success, false)
    assert.match(
      message,
      /^The connection broke while the work of app\.naps\(jsonb\) was being committed: whether it is done is not known/,
    )
    assert.deepEqual(await seen(), ["before", "after"])
  })

  test("and lets no order through keeps an aborted run no longer than its orders take", async () => {
    const { proxy, task, clock } = await faulty()
    const controller = new AbortController()
    await self.holdWaiting()
    const { ended } = performTask(task, WAIT, { signal: controller.signal })
    await untilBusy()

    proxy.blackhole()
    controller.abort(new Error("enough"))

    await rejectsAsTimePasses(ended, clock)
    await self.letGoOn()
    await untilIdle()
    assert.deepEqual(await seen(), [], "though the function came to its end, nobody committed it")
  })

  async function faulty() {
    const [proxy, clock] = [await faultProxy(inject("postgres").port), new HandClock()]
    onTestFinished(() => proxy.close())
    return { proxy, clock, task: self.task(proxy.through(self.url), { clock }) }
  }
})

describe("behind PgBouncer, in transaction mode", () => {
  test("functions are called and cancelled, and leave no settings to whoever has the connection next", async () => {
    const address = (await bouncer(3)).through(self.url)
    const task = self.task(address, { connections: 2, clock: new HandClock() })
    const controller = new AbortController()
    await self.holdWaiting()
    const dropped = performTask(task, WAIT, { signal: controller.signal }).ended
    const kept = performTask(task, WAIT).ended
    await untilBusy(2)

    controller.abort(new Error("enough"))

    await assert.rejects(dropped, /enough/)
    await self.letGoOn()
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

  test("a function is ended although there is no connection to cancel it from", async ({ skip }) => {
    skip(!(await isWatching(self.psql)), "the server can't watch its clients")
    const clock = new HandClock()
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

/** The task gives up one order after another, each when its time is over. */
async function rejectsAsTimePasses(ended: Promise<unknown>, clock: HandClock): Promise<void> {
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
