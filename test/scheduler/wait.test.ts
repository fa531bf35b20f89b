import assert from "node:assert/strict"
import { test } from "vitest"
import { createScheduler, defineTask, silentLogger } from "../../src/index.ts"
import type { Store } from "../../src/store/store.ts"
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts"
import { createVirtualClock } from "../../src/testing.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet, taking, turn } from "../support/fleet.ts"

const task = defineTask({ name: "task", run: () => "done" })

test("wait resolves with the finished run, or with null at the timeout", async () => {
  await using fleet = new Fleet()
  const slow = defineTask({ name: "slow", run: () => taking(fleet.clock, "10s") })
  const scheduler = await fleet.started({ tasks: [slow] })
  const { runId } = await scheduler.enqueue(slow)

  const tooShort = scheduler.runs.wait(runId, { timeout: "1s" })
  const enough = scheduler.runs.wait(runId, { timeout: "1m" })
  await fleet.advance("30s")

  assert.equal(await tooShort, null)
  assert.equal((await enough)?.state, "succeeded")
  await assert.rejects(scheduler.runs.wait("nobody"), { code: "BELFRY_RUN_NOT_FOUND" })
})

test("wait continues while the store is unavailable, also before the first connection", async () => {
  await using fleet = new Fleet()
  const wire = faultyStore(fleet.store)
  const client = fleet.node({ store: wire.store })
  await fleet.node().enqueue(task, { id: "r" })
  wire.breakDown()

  const ended = client.runs.wait("r", { timeout: "1m" })
  await fleet.advance("10s")
  wire.mend()
  await fleet.started({ tasks: [task] })

  assert.equal((await fleet.until(ended))?.state, "succeeded")
})

test("wait rejects if the store is still unavailable at the timeout, with the run and the timeout", async () => {
  await using fleet = new Fleet()
  const wire = faultyStore(fleet.store)
  const client = fleet.node({ store: wire.store })
  await client.enqueue(task, { id: "r" })
  wire.breakDown("readRuns")

  await assert.rejects(fleet.until(client.runs.wait("r", { timeout: "1m" })), {
    code: "BELFRY_STORE_UNAVAILABLE",
    message: /Waited 1m for run "r", but the store can't be read: .*away/,
  })
  assert.equal(fleet.clock.monotonic(), 60_000)
})

test("wait rejects at once for an unknown run or a closed store", async () => {
  await using fleet = new Fleet()
  const client = fleet.node()

  await assert.rejects(client.runs.wait("r"), { code: "BELFRY_RUN_NOT_FOUND" })
  await fleet.store.close()
  await assert.rejects(client.runs.wait("r"), { code: "BELFRY_STORE_CLOSED" })

  assert.equal(fleet.clock.monotonic(), 0)
})

test.each(["started", "not started"])(
  "in a process that is %s, wait resolves as soon as the run ends, without waiting for the next read",
  async (kind) => {
    await using fleet = new Fleet()
    const slow = defineTask({ name: "slow", run: () => taking(fleet.clock, "10s") })
    const worker = await fleet.started({ tasks: [slow] })
    const node = kind === "started" ? worker : fleet.node()
    const { runId } = await node.enqueue("slow")

    const run = await fleet.until(node.runs.wait(runId, { timeout: "1m" }))

    assert.equal(run!.state, "succeeded")
    assert.ok(fleet.clock.now() - run!.completedAt!.getTime() <= 5, "at once")
  },
)

test("calls that wait for runs listen for hints once, until the scheduler stops", async () => {
  const clock = createVirtualClock(0)
  const store = createMemoryStore(clock)
  const listening = { begun: 0, ended: 0 }
  const listen: Store["listen"] = async (onHint) => {
    listening.begun += 1
    const end = await store.listen(onHint)
    return async () => {
      listening.ended += 1
      await end()
    }
  }
  const client = createScheduler({ store: { ...store, listen }, clock, logger: silentLogger })
  await client.enqueue("t", { id: "r" })

  const waits = [client.runs.wait("r", { timeout: "1h" }), client.runs.wait("r", { timeout: "1h" })]
  const rejected = Promise.allSettled(waits)
  await turn()
  await client.stop()

  const codes = (await rejected).map((wait) => wait.status === "rejected" && wait.reason.code)
  assert.deepEqual(codes, ["BELFRY_STORE_CLOSED", "BELFRY_STORE_CLOSED"])
  assert.deepEqual(listening, { begun: 1, ended: 1 })
  assert.equal(clock.monotonic(), 0)
})
