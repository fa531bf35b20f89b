import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { collectedLog } from "../support/collected-log.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet } from "../support/fleet.ts"

const mine = defineTask({ name: "mine", run: () => undefined })
const theirs = defineTask({ name: "theirs", run: () => undefined })

/** A process that defines only the task `mine`. */
async function firing(fleet: Fleet) {
  const { logger, lines } = collectedLog()
  const wire = faultyStore(fleet.store)
  const node = await fleet.started({ store: wire.store, tasks: [mine], logger })
  const warnings = () => lines.filter(({ level }) => level === "warn").map(({ task }) => task)
  return { node, wire, warnings }
}

test("firing a task that no live worker offers is logged as a warning once, after a minute", async () => {
  await using fleet = new Fleet()
  const { node, warnings } = await firing(fleet)
  for (const task of ["mine", "theirs"]) await node.schedules.create(task, { task, every: "1m" })

  await fleet.advance("1m59s")
  const early = warnings()
  await fleet.advance("1h")

  assert.deepEqual([early, warnings()], [[], ["theirs"]])
})

test("a task that another worker offers within the minute causes no warning", async () => {
  await using fleet = new Fleet()
  const { node, warnings } = await firing(fleet)
  await node.schedules.create("s", { task: "theirs", every: "1m" })

  await fleet.advance("90s")
  await fleet.started({ tasks: [theirs] })
  await fleet.advance("1h")

  assert.deepEqual(warnings(), [])
})

test("a worker without heartbeats doesn't count as offering its tasks", async () => {
  await using fleet = new Fleet()
  const killed = faultyStore(fleet.store)
  await fleet.started({ store: killed.store, tasks: [theirs] })
  killed.fallSilent()
  await fleet.advance("5m")

  const { node, warnings } = await firing(fleet)
  await node.schedules.create("s", { task: "theirs", every: "1m" })
  await fleet.advance("1h")

  assert.deepEqual(warnings(), ["theirs"])
})

test("a process that fires only its own tasks never reads the list of workers", async () => {
  await using fleet = new Fleet()
  const { node, wire } = await firing(fleet)
  await node.schedules.create("s", { task: "mine", every: "1m" })
  const before = wire.count("findWorkers")

  await fleet.advance("1h")

  assert.equal(wire.count("findWorkers") - before, 0)
})
