import assert from "node:assert/strict"
import { test } from "vitest"
import { DAY } from "../../src/core/time/instant.ts"
import { defineTask } from "../../src/index.ts"
import type { PruneRequest, Store } from "../../src/store/store.ts"
import { collectedLog } from "../support/collected-log.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet } from "../support/fleet.ts"

const task = defineTask({ name: "task", run: () => "done" })
const schedules = [task.schedule("s", { cron: "* * * * *" })]

test("a process that only fires creates runs and performs none", async () => {
  await using fleet = new Fleet()
  const node = fleet.node({ tasks: [task], schedules })

  await node.start({ roles: ["fire"] })
  await fleet.advance("3m")

  assert.deepEqual(
    (await fleet.runs()).map(({ state }) => state),
    ["pending", "skipped", "skipped"],
  )
  const [process] = (await node.workers()).items
  assert.deepEqual([process!.roles, process!.tasks, process!.slots], [["fire"], [], 0])
})

test("a process that only works performs runs that other processes fire, and fires nothing", async () => {
  await using fleet = new Fleet()
  const worker = fleet.node({ tasks: [task], schedules })
  await worker.start({ roles: ["work"] })
  await fleet.advance("3m")
  assert.deepEqual(await fleet.runs(), [])

  const firing = fleet.node({ tasks: [task], schedules })
  await firing.start({ roles: ["fire"] })
  await fleet.advance("3m")

  const states = (await fleet.runs()).map(({ state }) => state)
  assert.ok(states.length >= 3 && states.slice(0, -1).every((state) => state !== "pending"))
  assert.ok(states.filter((state) => state === "succeeded").length >= 3)
})

test("a scheduler that isn't started can still enqueue and read runs", async () => {
  await using fleet = new Fleet()
  const client = fleet.node({ tasks: [task] })

  const { outcome, runId } = await client.enqueue(task)

  assert.equal(outcome, "created")
  assert.equal((await client.runs.get(runId))?.state, "pending")
  assert.equal(client.isRunning, false)
})

test("a process without tasks fires nothing and performs nothing, and logs a warning", async () => {
  await using fleet = new Fleet()
  const { logger, lines } = collectedLog()
  const wire = faultyStore(fleet.store)
  const observer = await fleet.started({ store: wire.store, logger })
  await observer.schedules.create("s", { task: "task", cron: "* * * * *" })

  await fleet.advance("1h")

  assert.deepEqual((await observer.runs.list()).items, [])
  assert.equal(wire.count("dueSchedules") + wire.count("claim") + wire.count("heartbeat"), 0)
  const warning = lines.find(({ level }) => level === "warn")
  assert.equal(warning?.message, "This process defines no task: it performs nothing and fires nothing")
  assert.equal(observer.isRunning, true)
})

test("a process without tasks fires if it is started with the role fire", async () => {
  await using fleet = new Fleet()
  const { logger, lines } = collectedLog()
  const node = fleet.node({ logger })
  await node.start({ roles: ["fire"] })
  await node.schedules.create("s", { task: "task", cron: "* * * * *" })

  await fleet.advance("1m")

  assert.equal((await node.runs.count()).pending, 1)
  assert.ok(lines.some(({ message }) => message === "This process defines no task: it performs nothing"))
})

test("only processes with a role prune history", async () => {
  await using fleet = new Fleet()
  const wire = faultyStore(fleet.store)
  const idle = fleet.node({ store: wire.store })
  await idle.start()
  const working = await fleet.started({ tasks: [task], retention: { age: "1h", perSchedule: 0 } })
  await working.enqueue(task, { id: "old" })

  await fleet.advance("3h")

  assert.equal(wire.count("prune"), 0)
  assert.equal(await working.runs.get("old"), null)
})

test("processes that start together prune at different times, each after a random delay", async () => {
  await using fleet = new Fleet()
  const wires = Array.from({ length: 4 }, () => faultyStore(fleet.store))
  for (const { store } of wires) await fleet.started({ store, tasks: [task] })
  await fleet.advance("59s")
  assert.ok(wires.every(({ count }) => count("prune") === 0))

  await fleet.advance("5m")

  const havePruned = wires.filter(({ count }) => count("prune") > 0).length
  assert.ok(havePruned >= 1 && havePruned <= 3, `${havePruned} of 4 have pruned`)
})

test("retention keeps the newest runs of each schedule whatever their age", async () => {
  await using fleet = new Fleet()
  const node = await fleet.started({ tasks: [task], schedules, retention: { age: "5m", perSchedule: 12 } })

  await fleet.advance("2h")

  const runs = (await node.runs.list({ limit: 1_000 })).items
  assert.ok(runs.length >= 12 && runs.length <= 12 + 16, `${runs.length} runs are kept`)
})

test("the journal is kept for 400 days, whatever the retention of runs", async () => {
  await using fleet = new Fleet()
  const requests: PruneRequest[] = []
  const store: Store = {
    ...fleet.store,
    prune(request) {
      requests.push(request)
      return fleet.store.prune(request)
    },
  }
  await fleet.started({ store, tasks: [task], retention: { age: "1h", perSchedule: 0 } })

  await fleet.advance("3h")

  assert.ok(requests.length > 0)
  assert.ok(requests.every(({ journalOlderThanMs }) => journalOlderThanMs === 400 * DAY))
})
