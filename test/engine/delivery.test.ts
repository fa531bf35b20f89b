import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask, RetryAfter } from "../../src/index.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet, never } from "../support/fleet.ts"

/** A task that is performed at most once, and how often it was begun. */
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

/** A worker has begun run "r" and is heard of no more; another is there. */
async function afterLoss(fleet: Fleet, task: ReturnType<typeof onceTask>["task"]) {
  const wire = faultyStore(fleet.store)
  const lost = await fleet.started({ store: wire.store, tasks: [task] })
  await lost.enqueue(task, { id: "r" })
  await fleet.advance("1s")
  wire.fallSilent()
  return fleet.started({ tasks: [task] })
}

test("a run whose worker is lost fails, and is not performed again", async () => {
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

test("a person may try it again, and then it is performed", async () => {
  await using fleet = new Fleet()
  const { task, begun } = onceTask((attempt) => (attempt === 1 ? never : "done"))
  const other = await afterLoss(fleet, task)
  await fleet.advance("5m")

  await other.runs.retry("r", { by: "ann" })
  await fleet.advance("10s")

  assert.deepEqual(begun, [1, 3])
  assert.equal((await other.runs.get("r"))?.state, "succeeded")
})

test("one that was claimed and not begun is performed by another worker", async () => {
  await using fleet = new Fleet()
  const { task, begun } = onceTask(() => "done")
  const wire = faultyStore(fleet.store)
  wire.loseReplies("claim")
  const deaf = await fleet.started({ store: wire.store, tasks: [task] })
  await deaf.enqueue(task, { id: "r" })
  await fleet.advance("1s")
  wire.mend()

  await fleet.advance("1m")

  assert.equal((await deaf.runs.get("r"))?.state, "succeeded")
  assert.equal(begun.length, 1)
})

test.each([
  ["an error", () => Promise.reject(new Error("refused")), /refused/],
  ["an error that asks for another try", () => Promise.reject(new RetryAfter("1s")), /./],
  ["a report of failure", () => ({ success: false, message: "no money" }), /no money/],
])("%s is its end, whatever the schedule says about retries", async (_, perform, error) => {
  await using fleet = new Fleet()
  const { task, begun } = onceTask(perform)
  const node = await fleet.started({ tasks: [task] })
  await node.enqueue(task, { id: "r", retry: { attempts: 5, delay: "1s" } })

  await fleet.advance("5m")

  assert.deepEqual(begun, [1])
  const run = await node.runs.get("r")
  assert.equal(run?.state, "failed")
  assert.match(run?.error ?? "", error)
})

test("a stop that doesn't wait for it ends it as failed instead of giving it back", async () => {
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

test("several attempts and at most once exclude each other", () => {
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
