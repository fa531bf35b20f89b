import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask, RetryAfter } from "../../src/index.ts"
import type { Store } from "../../src/store/store.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet, gate, never } from "../support/fleet.ts"

/** A task that is performed at most once, and the attempts that began. */
function onceTask(perform: (attempt: number) => unknown) {
  const begun: number[] = []
  const task = defineTask({
    name: "charge",
    delivery: "at-most-once",
    run({ run }) {
      begun.push(run.attempt)
      return perform(run.attempt)
    },
  })
  return { task, begun }
}

/** A worker began run "r" and then lost its connection. Another worker is running. */
async function afterLoss(fleet: Fleet, task: ReturnType<typeof onceTask>["task"]) {
  const wire = faultyStore(fleet.store)
  const lost = await fleet.started({ store: wire.store, tasks: [task] })
  await lost.enqueue(task, { id: "r" })
  await fleet.advance("1s")
  wire.fallSilent()
  return fleet.started({ tasks: [task] })
}

test("an at-most-once run whose worker is lost fails and is not performed again", async () => {
  await using fleet = new Fleet()
  const { task, begun } = onceTask(() => never)
  const other = await afterLoss(fleet, task)

  await fleet.advance("5m")

  const run = await other.runs.get("r")
  assert.deepEqual(begun, [1])
  assert.equal(run?.state, "failed")
  assert.equal(run?.reason, "lost")
  assert.match(run?.error ?? "", /may have begun, and its task is performed at most once/)
})

test("an at-most-once run that a person retries is performed again", async () => {
  await using fleet = new Fleet()
  const { task, begun } = onceTask((attempt) => (attempt === 1 ? never : "done"))
  const other = await afterLoss(fleet, task)
  await fleet.advance("5m")

  await other.runs.retry("r", { by: "ann" })
  await fleet.advance("10s")

  assert.deepEqual(begun, [1, 3])
  assert.equal((await other.runs.get("r"))?.state, "succeeded")
})

test("an at-most-once run whose worker is lost before it confirms the attempt is performed later", async () => {
  await using fleet = new Fleet()
  const { task, begun } = onceTask(() => "done")
  const wire = faultyStore(fleet.store)
  const lost = await fleet.started({ store: wire.store, tasks: [task] })
  wire.breakDown("heartbeat")
  await lost.enqueue(task, { id: "r" })
  await fleet.advance("1s")
  wire.fallSilent()
  const other = await fleet.started({ tasks: [task] })

  await fleet.advance("5m")

  assert.equal((await other.runs.get("r"))?.state, "succeeded")
  assert.deepEqual(begun, [2])
})

test("an at-most-once run that was claimed but didn't begin is performed later", async () => {
  await using fleet = new Fleet()
  const { task, begun } = onceTask(() => "done")
  const wire = faultyStore(fleet.store)
  wire.loseReplies("claim")
  const node = await fleet.started({ store: wire.store, tasks: [task] })
  await node.enqueue(task, { id: "r" })
  await fleet.advance("1s")
  wire.mend()

  await fleet.advance("1m")

  assert.equal((await node.runs.get("r"))?.state, "succeeded")
  assert.equal(begun.length, 1)
})

test.each([
  ["an error", () => Promise.reject(new Error("refused")), /refused/],
  ["a RetryAfter error", () => Promise.reject(new RetryAfter("1s")), /./],
  ["the result success: false", () => ({ success: false, message: "no money" }), /no money/],
])("%s ends an at-most-once run, whatever its retry policy", async (_, perform, error) => {
  await using fleet = new Fleet()
  const { task, begun } = onceTask(perform)
  const node = await fleet.started({ tasks: [task] })
  // By a process that doesn't know that the task is performed at most once.
  await fleet.node().enqueue(task.name, { id: "r", retry: { attempts: 5, delay: "1s" } })

  await fleet.advance("5m")

  assert.deepEqual(begun, [1])
  const run = await node.runs.get("r")
  assert.equal(run?.state, "failed")
  assert.match(run?.error ?? "", error)
})

test("a stop that doesn't wait for an at-most-once run fails it instead of releasing it", async () => {
  await using fleet = new Fleet()
  const { task, begun } = onceTask(() => never)
  const node = await fleet.started({ tasks: [task] })
  await node.enqueue(task, { id: "r" })
  await fleet.advance("1s")
  const other = await fleet.started({ tasks: [task] })

  await fleet.until(node.stop({ timeout: "1s" }))
  await fleet.advance("5m")

  assert.deepEqual(begun, [1])
  const run = await other.runs.get("r")
  assert.equal(run?.state, "failed")
  assert.match(run?.error ?? "", /stopped while it performed the run/)
})

test("an at-most-once task with several attempts is refused", () => {
  const options = {
    name: "t",
    delivery: "at-most-once",
    retry: { attempts: 2 },
    run: () => undefined,
  } as const

  assert.throws(() => defineTask(options), {
    code: "BELFRY_TASK_INVALID",
    message: /retry has several attempts, but a task that is performed at most once has one/,
  })
})

test("several attempts at a run or a schedule of an at-most-once task are refused where the task is known", async () => {
  await using fleet = new Fleet()
  const { task } = onceTask(() => undefined)
  const node = fleet.node({ tasks: [task] })
  const { schedules } = node
  const retry = { attempts: 3 }
  const timing = { task: task.name, every: "1h" } as const
  const refused = { message: /retry has several attempts, but a task that is performed at most once has one/ }

  await assert.rejects(node.enqueue(task, { retry }), refused)
  await assert.rejects(node.enqueue(task.name, { retry }), refused)
  await assert.rejects(schedules.create("s", { ...timing, retry }), refused)
  await assert.rejects(schedules.put("s", { ...timing, retry }), refused)
  assert.throws(() => task.schedule("s", { every: "1h", retry }), refused)
  await schedules.create("s", { ...timing, retry: { attempts: 1 } })
  await assert.rejects(schedules.update("s", { retry }, { ifRevision: 1 }), refused)
})

test("a stored schedule of an at-most-once task with several attempts can still be changed in other ways", async () => {
  await using fleet = new Fleet()
  const { task } = onceTask(() => undefined)
  const stored = { task: task.name, every: "1h", retry: { attempts: 3 } } as const
  await fleet.node().schedules.create("s", stored)

  const { schedules } = fleet.node({ tasks: [task] })
  const { enabled } = await schedules.update("s", { enabled: false }, { ifRevision: 1 })

  assert.equal(enabled, false)
})

test("an at-most-once run that an operator takes from its worker is not performed again", async () => {
  await using fleet = new Fleet()
  const performed: number[] = []
  const task = defineTask({
    name: "siren",
    delivery: "at-most-once",
    run: ({ run }) => {
      performed.push(run.attempt)
      return new Promise(() => undefined)
    },
  })
  const node = await fleet.started({ tasks: [task] })
  const { runId } = await node.enqueue(task)
  await fleet.advance("1s")

  await node.runs.release(runId)
  await fleet.advance("1s")

  const run = await node.runs.get(runId)
  assert.deepEqual([run?.state, run?.reason, performed], ["failed", "lost", [1]])
})

test("an at-most-once run that was lost is not performed after another worker released it at its stop", async () => {
  await using fleet = new Fleet()
  const { task, begun } = onceTask(() => never)
  const answering = gate()
  const wire = faultyStore(fleet.store)
  const lost = await fleet.started({ store: wire.store, tasks: [task] })
  await lost.enqueue(task, { id: "r" })
  await fleet.advance("1s")
  wire.fallSilent()
  await fleet.advance("5m")
  const store: Store = {
    ...fleet.store,
    async claim(request) {
      const claimed = await fleet.store.claim(request)
      await answering.promise
      return claimed
    },
  }
  const stopped = await fleet.started({ store, tasks: [task] })
  await fleet.advance("1s")
  const stopping = stopped.stop({ timeout: 0 })
  answering.open()
  await fleet.until(stopping)

  const next = await fleet.started({ tasks: [task] })
  await fleet.advance("1m")

  const run = await next.runs.get("r")
  const outcomes = run?.attempts.map(({ outcome }) => outcome)
  assert.deepEqual([begun, outcomes, run?.state], [[1], ["lost", "released", "given-up"], "failed"])
})
