import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { aRun } from "../../src/store/laws/factories.ts"
import { countRuns } from "../../src/store/laws/steps.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet } from "../support/fleet.ts"

async function oneWorker() {
  const fleet = new Fleet()
  const wire = faultyStore(fleet.store)
  const performed: string[] = []
  const task = defineTask({
    name: "task",
    run: ({ run }) => void performed.push(run.id),
  })
  const node = await fleet.started({ store: wire.store, tasks: [task], lease: "30s" })
  return { fleet, wire, node, task, performed }
}

test("runs of a claim whose reply was lost are performed within seconds and count no lost attempt", async () => {
  const { fleet, wire, node, task, performed } = await oneWorker()
  wire.loseReplies("claim")
  await node.enqueue(task, { id: "a" })
  await fleet.advance("100ms")
  assert.equal(
    (await node.runs.get("a"))!.state,
    "running",
    "the store has it claimed, and its worker doesn't know",
  )

  wire.mend()
  await fleet.advance("5s")

  assert.equal(performed.length, 1)
  const run = (await node.runs.get("a"))!
  assert.deepEqual(
    [run.state, run.attempts.map(({ outcome }) => outcome)],
    ["succeeded", ["released", "succeeded"]],
  )
  await fleet[Symbol.asyncDispose]()
})

test("a run is performed even if the replies of three claims in a row are lost", async () => {
  const { fleet, wire, node, task, performed } = await oneWorker()
  await node.enqueue(task, { id: "a", delay: "1s" })
  wire.loseReplies("claim")
  await fleet.advance("2m")
  wire.mend()
  await fleet.advance("10s")

  assert.equal(performed.length, 1)
  const run = (await node.runs.get("a"))!
  assert.equal(run.state, "succeeded")
  assert.ok(run.attempts.length > 3)
  assert.ok(run.attempts.slice(0, -1).every(({ outcome }) => outcome === "released"))
  await fleet[Symbol.asyncDispose]()
})

test("a claim that the server executes after its worker stopped waiting is detected", async () => {
  const { fleet, wire, node, task } = await oneWorker()
  wire.breakDown("claim")
  await node.enqueue(task, { id: "a" })
  await fleet.advance("1s")
  wire.mend()
  await fleet.advance("1s")
  const [worker] = await fleet.store.findWorkers({ afterId: null, limit: 1 })

  // The worker claims again by now, but the old claim gets the new run first.
  const tasks = [{ name: "task", leaseMs: 30_000 }]
  await Promise.all([
    fleet.store.enqueue([aRun({ id: "b", task: "task" })]),
    fleet.store.claim({ workerId: worker!.id, tasks, limit: 1 }),
  ])
  await fleet.advance("8s")

  const run = (await node.runs.get("b"))!
  assert.deepEqual(
    [run.state, run.attempts.map(({ outcome }) => outcome)],
    ["succeeded", ["released", "succeeded"]],
  )
  await fleet[Symbol.asyncDispose]()
})

test("an attempt that began and whose end can't be stored isn't released, even after a lost reply of a claim", async () => {
  const { fleet, wire, node, task, performed } = await oneWorker()
  // Each attempt to store the end fails, but heartbeats keep the lease until the worker gives up.
  wire.breakDown("transition")
  await node.enqueue(task, { id: "a" })
  await fleet.advance("25s")
  wire.breakDown("claim")
  await node.enqueue(task, { id: "b" })
  await fleet.advance("1s")
  wire.mend()
  await fleet.advance("6s")

  assert.deepEqual(performed, ["a", "b"])
  assert.deepEqual(
    [(await node.runs.get("a"))!.state, (await node.runs.get("a"))!.attempt],
    ["running", 1],
    "the attempt was performed, so it isn't released like one that didn't begin",
  )
  await fleet.advance("45s")
  const run = (await node.runs.get("a"))!
  assert.deepEqual(
    [run.state, run.attempts.map(({ outcome }) => outcome)],
    ["succeeded", ["lost", "succeeded"]],
  )
  await fleet[Symbol.asyncDispose]()
})

for (const others of [1_200, 11_000]) {
  test(`runs of a lost reply are found among ${others} newer running runs of other workers`, async () => {
    const { fleet, wire, node, task, performed } = await oneWorker()
    await node.enqueue(task, { id: "a", delay: "1s" })
    await fleet.advance("500ms")
    await fleet.store.enqueue(
      Array.from({ length: others }, (_, index) => aRun({ id: `other-${index}`, task: "other" })),
    )
    const tasks = [{ name: "other", leaseMs: 600_000 }]
    await fleet.store.claim({ workerId: "another", tasks, limit: others })
    wire.loseReplies("claim")
    await fleet.advance("1s")
    wire.mend()

    await fleet.advance("8s")

    assert.deepEqual(performed, ["a"])
    assert.equal((await node.runs.get("a"))!.attempts[0]?.outcome, "released")
    assert.equal((await countRuns(fleet.store, { task: "other" })).running, Math.min(others, 10_000))
    await fleet[Symbol.asyncDispose]()
  })
}
