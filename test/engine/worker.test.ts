import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import type { Store } from "../../src/store/store.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet, gate, taking } from "../support/fleet.ts"

test("a worker performs as many runs at once as it has slots, and the rest as slots become free", async () => {
  await using fleet = new Fleet()
  let running = 0
  let most = 0
  const slow = defineTask({
    name: "slow",
    async run() {
      most = Math.max(most, ++running)
      await taking(fleet.clock, "10s")
      running--
    },
  })
  const node = await fleet.started({ tasks: [slow], concurrency: 3 })

  for (let index = 0; index < 9; index++) await node.enqueue(slow)
  await fleet.advance("30s")

  assert.equal(most, 3)
  assert.equal((await node.runs.count()).succeeded, 9)
})

test("while the ends of runs are being stored, further runs begin, up to one per slot", async () => {
  await using fleet = new Fleet()
  const storing = gate()
  let begun = 0
  const quick = defineTask({ name: "quick", run: () => void begun++ })
  const store: Store = {
    ...fleet.store,
    async transition(changes) {
      await storing.promise
      return fleet.store.transition(changes)
    },
  }
  for (let index = 0; index < 6; index++) await fleet.node().enqueue("quick")

  const node = await fleet.started({ store, tasks: [quick], concurrency: 2 })
  await fleet.advance("1s")
  assert.equal(begun, 4)

  storing.open()
  await fleet.advance("1s")
  assert.deepEqual([begun, (await node.runs.count()).succeeded], [6, 6])
})

test("runs of a higher priority are performed first, and equal ones in the order of their due times", async () => {
  await using fleet = new Fleet()
  const order: string[] = []
  const note = defineTask({ name: "note", run: ({ run }) => void order.push(run.id) })
  const client = fleet.node()
  await client.enqueue("note", { id: "low", priority: "low" })
  await client.enqueue("note", { id: "first" })
  await fleet.advance(1)
  await client.enqueue("note", { id: "second", priority: "normal" })
  await client.enqueue("note", { id: "high", priority: "high" })
  await client.enqueue("note", { id: "highest", priority: 11 })

  await fleet.started({ tasks: [note], concurrency: 1 })
  await fleet.advance("1s")

  assert.deepEqual(order, ["highest", "high", "first", "second", "low"])
})

test("a worker claims only runs of the tasks it defines, and other runs wait for a worker that defines theirs", async () => {
  await using fleet = new Fleet()
  const mine = defineTask({ name: "mine", run: () => "done" })
  const node = await fleet.started({ tasks: [mine] })

  await node.enqueue("other", { id: "other" })
  await fleet.advance("1h")
  assert.equal((await node.runs.get("other"))?.state, "pending")

  await fleet.started({ tasks: [defineTask({ name: "other", run: () => "done" })] })
  await fleet.advance(1)
  assert.equal((await node.runs.get("other"))?.state, "succeeded")
})

test("two claims of a worker are at least nextDelay apart, also after hints", async () => {
  await using fleet = new Fleet()
  const startedAt: number[] = []
  const note = defineTask({ name: "note", run: () => void startedAt.push(fleet.clock.monotonic()) })
  const node = await fleet.started({ tasks: [note], concurrency: 1, nextDelay: "2s" })
  await fleet.advance("10s")

  for (let index = 0; index < 4; index++) await node.enqueue(note)
  await fleet.advance("20s")

  assert.deepEqual(startedAt, [10_000, 12_000, 14_000, 16_000])
})

test("a run that a process enqueues itself is performed at once, even if the store gives no hints", async () => {
  await using fleet = new Fleet()
  const withoutHints = { ...fleet.store, listen: async () => async () => undefined }
  const task = defineTask({ name: "task", run: () => undefined })
  const node = await fleet.started({ store: withoutHints, tasks: [task], pollInterval: "1h" })
  await fleet.advance("1m")

  const { runId } = await node.enqueue(task)
  await fleet.advance(1)

  assert.equal((await node.runs.get(runId))?.state, "succeeded")
})

test("a run that a process fires itself is performed at once, even if the store gives no hints", async () => {
  await using fleet = new Fleet()
  const withoutHints = { ...fleet.store, listen: async () => async () => undefined }
  const task = defineTask({ name: "task", run: () => undefined })
  const schedules = [
    task.schedule("stored", { cron: "* * * * *" }),
    task.schedule("local", { cron: "* * * * *", local: true }),
  ]
  const node = await fleet.started({ store: withoutHints, tasks: [task], schedules, pollInterval: "1h" })

  await fleet.advance("10m")

  const runs = (await node.runs.list()).items
  assert.equal(runs.length, 20)
  assert.ok(runs.every((run) => run.startedAt?.getTime() === run.scheduledFor?.getTime()))
})

test("a delayed run starts when its delay ends, without polling for it", async () => {
  await using fleet = new Fleet()
  const { store, count } = faultyStore(fleet.store)
  const task = defineTask({ name: "task", run: () => undefined })
  const node = await fleet.started({ store, tasks: [task], pollInterval: "1h" })

  const { runId } = await node.enqueue(task, { delay: "25m" })
  const before = count("claim")
  await fleet.advance("30m")

  const run = await node.runs.get(runId)
  assert.equal(run?.startedAt?.toISOString(), "2026-01-01T00:25:00.000Z")
  assert.ok(count("claim") - before <= 3, `${count("claim") - before} claims`)
})

test("the limit of a concurrency key applies across all workers", async () => {
  await using fleet = new Fleet()
  let running = 0
  let most = 0
  const slow = defineTask({
    name: "slow",
    async run() {
      most = Math.max(most, ++running)
      await taking(fleet.clock, "5s")
      running--
    },
  })
  const node = await fleet.started({ tasks: [slow] })
  await fleet.started({ tasks: [slow] })

  for (let index = 0; index < 6; index++)
    await node.enqueue(slow, { concurrency: { key: "tenant-1", limit: 2 } })
  await fleet.advance("15s")

  assert.equal(most, 2)
  assert.equal((await node.runs.count()).succeeded, 6)
})

test("a worker that had free slots doesn't claim again when a run ends", async () => {
  await using fleet = new Fleet()
  let claims = 0
  const counted = {
    ...fleet.store,
    claim: (request: Parameters<typeof fleet.store.claim>[0]) => {
      claims++
      return fleet.store.claim(request)
    },
  }
  const slow = defineTask({ name: "slow", run: () => taking(fleet.clock, "10s") })
  const node = await fleet.started({ tasks: [slow], concurrency: 2, store: counted })
  await node.enqueue(slow)
  await fleet.advance("1s")

  const before = claims
  await fleet.advance("20s")
  assert.equal(claims, before)
  assert.equal((await node.runs.count()).succeeded, 1)
})

test("a worker claims again at once if the store returns fewer runs than slots and says that there are more", async () => {
  await using fleet = new Fleet()
  const startedAt: string[] = []
  const note = defineTask({ name: "note", run: () => void startedAt.push(fleet.now()) })
  const store: Store = {
    ...fleet.store,
    // At most two runs per claim, and no hints.
    async claim(request) {
      const claimed = await fleet.store.claim({ ...request, limit: Math.min(2, request.limit) })
      return claimed.runs.length < 2 ? claimed : { ...claimed, nextClaimableAt: claimed.now }
    },
    listen: async () => async () => undefined,
  }
  const client = fleet.node({ tasks: [note] })
  for (let index = 0; index < 7; index++) await client.enqueue(note)

  const node = await fleet.started({ store, tasks: [note], concurrency: 100 })

  assert.deepEqual([startedAt.length, new Set(startedAt).size], [7, 1])
  assert.equal(node.isIdle, true)
})

test("isProcessing and isIdle tell whether runs are being performed and whether there was nothing to do", async () => {
  await using fleet = new Fleet()
  const held = gate()
  const task = defineTask({ name: "task", run: () => held.promise })
  const node = fleet.node({ tasks: [task] })
  const state = () => [node.isRunning, node.isProcessing, node.isIdle]
  assert.deepEqual(state(), [false, false, false])

  await node.start()
  await fleet.advance(1)
  assert.deepEqual(state(), [true, false, true])

  await node.enqueue(task)
  await fleet.advance(1)
  assert.deepEqual(state(), [true, true, false])

  held.open()
  await fleet.advance(1)
  assert.deepEqual(state(), [true, false, true])

  await fleet.until(node.stop())
  assert.deepEqual(state(), [false, false, false])
})

test("a worker is listed with its number of running runs while it runs, and isn't listed after it stopped", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "task", run: () => taking(fleet.clock, "1m") })
  const node = await fleet.started({ tasks: [task], concurrency: 4 })
  const observer = fleet.node()
  await node.enqueue(task)
  await fleet.advance("30s")

  const [worker] = (await observer.workers()).items
  assert.equal(worker?.running, 1)
  assert.equal(worker?.slots, 4)
  assert.deepEqual(worker?.tasks, ["task"])
  assert.equal(worker?.state, "active")

  await fleet.until(node.stop())
  assert.deepEqual((await observer.workers()).items, [])
})
