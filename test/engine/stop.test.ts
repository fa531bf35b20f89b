import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask, type RunAborted, type RunEvent } from "../../src/index.ts"
import { collectedLog } from "../support/collected-log.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { aborted, Fleet, never, taking, turn } from "../support/fleet.ts"

/** One worker with a short, a long and an endless run, and a second worker. */
async function stoppingFleet() {
  const fleet = new Fleet()
  const starts: string[] = []
  const recorded = (name: string, perform: () => Promise<unknown>) =>
    defineTask({
      name,
      run({ run }) {
        starts.push(`${fleet.clock.monotonic() / 1_000} ${name}#${run.attempt}`)
        return run.attempt === 1 ? perform() : "retaken"
      },
    })
  const short = recorded("short", () => taking(fleet.clock, "1s"))
  const long = recorded("long", () => taking(fleet.clock, "30s"))
  const endless = recorded("endless", () => never)
  const tasks = [short, long, endless]
  const node = await fleet.started({ tasks })
  for (const task of tasks) await node.enqueue(task, { id: task.name })
  await fleet.advance(1)
  const other = await fleet.started({ tasks })
  return { fleet, node, other, tasks, starts }
}

test("a graceful stop finishes short runs and releases long ones at its timeout for another worker", async () => {
  const { fleet, node, other, starts } = await stoppingFleet()

  const stopped = node.stop({ timeout: "10s" })
  await fleet.advance("10s")
  await turn()
  await fleet.until(stopped)
  await fleet.advance("1s")

  assert.deepEqual(starts.slice(3).sort(), ["10.001 endless#2", "10.001 long#2"])
  const runs = (await other.runs.list()).items
  assert.ok(runs.every((run) => run.state === "succeeded" && run.failures === 0 && run.lost === 0))
  assert.equal((await other.runs.get("long"))?.attempts[0]?.outcome, "released")
  assert.equal((await other.runs.get("short"))?.attempt, 1)
  await fleet[Symbol.asyncDispose]()
})

test("a stopping process claims no new run", async () => {
  const { fleet, node, other, tasks, starts } = await stoppingFleet()
  await fleet.until(other.stop())
  const client = fleet.node()

  const stopped = node.stop({ timeout: "10s" })
  await client.enqueue(tasks[0]!, { id: "new" })
  await fleet.advance("9s")

  assert.equal(starts.length, 3)
  assert.equal((await client.runs.get("new"))?.state, "pending")
  await fleet.until(stopped)
  await fleet[Symbol.asyncDispose]()
})

test("a stop with timeout 0 aborts and releases all runs at once", async () => {
  await using fleet = new Fleet()
  let why: unknown
  const task = defineTask({
    name: "task",
    async run({ signal }) {
      await aborted(signal)
      why = (signal.reason as RunAborted).why
      throw signal.reason
    },
  })
  const node = await fleet.started({ tasks: [task] })
  const { runId } = await node.enqueue(task)
  await fleet.advance("1s")

  await fleet.until(node.stop({ timeout: 0 }))

  const run = await fleet.node().runs.get(runId)
  assert.equal(why, "stopping")
  assert.deepEqual([run?.state, run?.failures], ["pending", 0])
  assert.ok(run!.claimableAt!.getTime() <= fleet.clock.now())
})

test("a task that reads its signal and returns during a stop is released, because its work may be half done", async () => {
  const fleet = new Fleet()
  const task = defineTask({
    name: "task",
    async run({ signal, run }) {
      if (run.attempt === 1) await aborted(signal)
    },
  })
  const node = await fleet.started({ tasks: [task] })
  const { runId } = await node.enqueue(task)
  await fleet.advance(1)
  const other = await fleet.started({ tasks: [task] })

  await fleet.until(node.stop({ timeout: 0 }))
  await fleet.advance("1s")

  const run = await other.runs.get(runId)
  assert.deepEqual(
    run?.attempts.map(({ outcome }) => outcome),
    ["released", "succeeded"],
  )
  await fleet[Symbol.asyncDispose]()
})

test("a released run is claimed before runs that became due after it", async () => {
  await using fleet = new Fleet()
  const begun: string[] = []
  const task = defineTask({
    name: "task",
    async run({ run, signal }) {
      begun.push(run.id)
      if (begun.length > 1) return
      await aborted(signal)
      throw signal.reason
    },
  })
  const first = await fleet.started({ tasks: [task], concurrency: 1 })
  for (const id of ["a", "b", "c"]) {
    await first.enqueue(task, { id })
    await fleet.advance("1s")
  }

  await fleet.until(first.stop({ timeout: 0 }))
  await fleet.advance("1s")
  await fleet.started({ tasks: [task], concurrency: 1 })
  await fleet.advance("1s")

  assert.deepEqual(begun, ["a", "a", "b", "c"])
})

test("starting twice starts once, and stopping twice stops once", async () => {
  await using fleet = new Fleet()
  const calls: string[] = []
  const hooks = { start: () => void calls.push("start"), stop: () => void calls.push("stop") }
  const task = defineTask({ name: "task", run: () => undefined })
  const node = fleet.node({ tasks: [task], hooks })

  await Promise.all([node.start(), node.start()])
  await node.start()
  await fleet.until(Promise.all([node.stop(), node.stop()]))
  await fleet.until(node.stop())

  assert.deepEqual(calls, ["start", "stop"])
})

test("a scheduler that never started stops without calling the hook `stop` and can't be started afterwards", async () => {
  await using fleet = new Fleet()
  const calls: string[] = []
  const node = fleet.node({ hooks: { stop: () => void calls.push("stop") } })

  await node.stop()

  assert.deepEqual(calls, [])
  await assert.rejects(node.start(), { code: "BELFRY_STORE_CLOSED" })
})

test("a stopped scheduler can't be started again", async () => {
  await using fleet = new Fleet()
  const node = fleet.node({})
  await node.start()
  await fleet.until(node.stop())

  await assert.rejects(node.start(), { code: "BELFRY_STORE_CLOSED" })
})

test("a stop during a start waits for the start, then stops", async () => {
  await using fleet = new Fleet()
  const calls: string[] = []
  const hooks = { start: () => void calls.push("start"), stop: () => void calls.push("stop") }
  const node = fleet.node({ tasks: [defineTask({ name: "task", run: () => undefined })], hooks })

  const started = node.start()
  await fleet.until(node.stop())
  await started

  assert.deepEqual(calls, ["start", "stop"])
  assert.equal(node.isRunning, false)
})

test("a stop ends within seconds during an outage, and its run is taken over when the lease ends", async () => {
  await using fleet = new Fleet()
  const errors: string[] = []
  const wire = faultyStore(fleet.store)
  const task = defineTask({ name: "task", run: ({ run }) => (run.attempt === 1 ? never : "done") })
  const hooks = { error: (_error: unknown, where: string) => void errors.push(where) }
  const node = await fleet.started({ store: wire.store, tasks: [task], hooks })
  const { runId } = await node.enqueue(task)
  await fleet.advance("1s")

  wire.breakDown()
  await fleet.until(node.stop({ timeout: "2s" }))
  const stoppedAfterMs = fleet.clock.monotonic() - 1_000

  assert.ok(stoppedAfterMs < 25_000, `${stoppedAfterMs} ms`)
  assert.ok(errors.includes("worker"))
  await fleet.started({ tasks: [task] })
  await fleet.advance("45s")
  assert.equal((await fleet.node().runs.get(runId))?.state, "succeeded")
})

test("a failed start can be tried again", async () => {
  await using fleet = new Fleet()
  const wire = faultyStore(fleet.store)
  const task = defineTask({ name: "task", run: () => undefined })
  const node = fleet.node({
    store: wire.store,
    tasks: [task],
    schedules: [task.schedule("s", { every: "1m" })],
  })

  wire.breakDown("open")
  await assert.rejects(node.start(), /away/)
  wire.breakDown("findSchedules")
  await assert.rejects(node.start(), /away/)
  wire.mend()
  await node.start()
  await fleet.advance("1m")

  assert.equal((await fleet.runs()).length, 1)
})

test("await using stops a scheduler at the end of its block", async () => {
  await using fleet = new Fleet()
  const calls: RunEvent["type"][] = []
  {
    await using node = fleet.node({ hooks: { stop: () => void calls.push("released") } })
    await node.start({ roles: ["fire"] })
  }

  assert.deepEqual(calls, ["released"])
})

test("a stop closes tasks after their runs have ended and logs a task that can't be closed", async () => {
  await using fleet = new Fleet()
  const log = collectedLog()
  const seen: string[] = []
  const pooled = defineTask({
    name: "pooled",
    async run() {
      await taking(fleet.clock, "5s")
      seen.push("ran")
    },
    close: async () => void seen.push("closed"),
  })
  const broken = defineTask({
    name: "broken",
    run: () => "done",
    close: () => Promise.reject(new Error("the pool hangs")),
  })
  const node = await fleet.started({ tasks: [broken, pooled], logger: log.logger })
  await node.enqueue(pooled)
  await fleet.advance("1s")

  await fleet.until(node.stop())

  assert.deepEqual(seen, ["ran", "closed"])
  assert.deepEqual(
    log.lines.filter(({ message }) => /can't be closed/.test(message)).map(({ task }) => task),
    ["broken"],
  )
})

test("a task that never closes delays a stop by at most its timeout and 3 seconds", async () => {
  await using fleet = new Fleet()
  const stuck = defineTask({ name: "stuck", run: () => "done", close: () => never })
  const node = await fleet.started({ tasks: [stuck] })
  const askedAt = fleet.clock.monotonic()

  await fleet.until(node.stop({ timeout: "1s" }))

  assert.equal(fleet.clock.monotonic() - askedAt, 4_000)
})
