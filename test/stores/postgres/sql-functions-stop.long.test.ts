import assert from "node:assert/strict"
import { once } from "node:events"
import { createScheduler, silentLogger } from "belfry"
import { inject, onTestFinished, test } from "vitest"
import { faultProxy } from "../../support/fault-proxy.ts"
import { startPgBouncer } from "../../support/pgbouncer.ts"
import { performTask } from "../../support/task-run.ts"
import { aStore } from "./scratch.ts"
import { detectsLostClients, NAP, slowFunctions } from "./sql-stopping.ts"

/** How long a function continues after its run has ended, in real time. */

/** The engine gives a task whose signal was aborted 5 seconds. */
const GRACE_MS = 4_500

const self = slowFunctions()
const { seen, untilBusy, untilIdle } = self

test("a function that catches cancel requests is ended within the engine's grace period", async () => {
  const controller = new AbortController()
  const { ended } = performTask(self.task(self.url), { function: "deaf" }, { signal: controller.signal })
  await untilBusy()

  await within(GRACE_MS, async () => {
    controller.abort(new Error("enough"))
    await assert.rejects(ended, /enough/)
  })

  assert.deepEqual(await self.busy(), [])
})

test("on a network that drops cancel requests, an aborted run ends within the engine's grace period", async () => {
  const proxy = await faultProxy(inject("postgres").port)
  onTestFinished(() => proxy.close())
  const controller = new AbortController()
  const { ended } = performTask(self.task(proxy.through(self.url)), NAP, { signal: controller.signal })
  await untilBusy()
  proxy.blackhole()

  await within(GRACE_MS, async () => {
    controller.abort(new Error("enough"))
    await assert.rejects(ended, /enough/)
  })
})

test("behind a PgBouncer without a free connection for the cancel request, a function is still ended", async ({
  skip,
}) => {
  skip(!(await detectsLostClients(self.psql)), "the server does not detect lost clients")
  const bouncer = await startPgBouncer(inject("postgres"), { poolSize: 1 })
  onTestFinished(() => bouncer.stop())
  const controller = new AbortController()
  const { ended } = performTask(self.task(bouncer.through(self.url)), NAP, { signal: controller.signal })
  await untilBusy()

  await within(GRACE_MS, async () => {
    controller.abort(new Error("enough"))
    await assert.rejects(ended, /enough/)
  })
  await within(10_000, untilIdle)
})

test("the function of a killed worker is ended by the server within ten seconds", async ({ skip }) => {
  skip(!(await detectsLostClients(self.psql)), "the server does not detect lost clients")
  const worker = self.startWorker()
  await untilBusy()

  worker.kill("SIGKILL")
  await once(worker, "exit")

  await within(10_000, untilIdle)
  assert.deepEqual(await seen(), [])
})

test("the function of a cancelled run is ended within five seconds", async () => {
  const { scheduler, runId } = await running()

  await within(5_000, async () => {
    await scheduler.runs.cancel(runId)
    await untilIdle()
  })
})

test("the function of a run that another worker took over is ended within ten seconds", async () => {
  const { runId } = await running()

  await within(10_000, async () => {
    await self.psql.query(
      "update belfry.runs set worker_id = 'another', attempt = attempt + 1, claimable_at = now() + interval '1 hour' where id = $1",
      [runId],
    )
    await untilIdle()
  })
})

test("the function of a run that exceeds its timeout is ended with the run", async () => {
  const { scheduler, runId } = await running({ timeout: "3s" })

  const run = await scheduler.runs.wait(runId)

  assert.equal(run?.error, "Timed out after 3s")
  assert.deepEqual(await self.busy(), [])
  assert.deepEqual(await seen(), [])
})

async function running(options: { timeout?: "3s" } = {}) {
  const sql = self.task(self.url)
  const scheduler = createScheduler({
    store: aStore(self.url),
    tasks: [sql],
    lease: "3s",
    logger: silentLogger,
  })
  onTestFinished(() => scheduler.stop({ timeout: 0 }))
  await scheduler.start()
  const { runId } = await scheduler.enqueue(sql, { payload: NAP, ...options, retry: { attempts: 1 } })
  await untilBusy()
  return { scheduler, runId }
}

async function within(ms: number, work: () => Promise<unknown>): Promise<void> {
  const beganAt = performance.now()
  await work()
  const tookMs = performance.now() - beganAt
  assert.ok(tookMs < ms, `it took ${tookMs} ms`)
}
