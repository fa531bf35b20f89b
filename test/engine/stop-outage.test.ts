import assert from "node:assert/strict"
import { test } from "vitest"
import { createScheduler, defineTask } from "../../src/index.ts"
import { collectedLog } from "../support/collected-log.ts"
import { type FaultyStore, faultyStore } from "../support/faulty-store.ts"
import { Fleet, gate, never, taking } from "../support/fleet.ts"

/** One run that never ends and one that ends while its worker stops, on a store whose operations can be made to fail. */
async function busyNode(fleet: Fleet) {
  const wire = faultyStore(fleet.store)
  const log = collectedLog()
  const endless = defineTask({ name: "endless", run: ({ run }) => (run.attempt === 1 ? never : "done") })
  const short = defineTask({ name: "short", run: () => taking(fleet.clock, "1500ms") })
  const tasks = [endless, short]
  const schedules = [short.schedule("hourly", { cron: "0 * * * *" })]
  const node = createScheduler({
    store: wire.store,
    clock: fleet.clock,
    logger: log.logger,
    tasks,
    schedules,
  })
  await fleet.until(node.start())
  for (const task of tasks) await node.enqueue(task, { id: task.name })
  await fleet.advance("1s")
  return { node, wire, log, tasks }
}

const OUTAGES: readonly [string, (wire: FaultyStore) => void][] = [
  ["throws at every call", (wire) => wire.breakDown()],
  ["never answers", (wire) => wire.fallSilent()],
]

for (const [outage, beginOutage] of OUTAGES) {
  test(`a stop ends within its timeout and 3 seconds, on a store that ${outage}`, async () => {
    await using fleet = new Fleet()
    const { node, wire, log, tasks } = await busyNode(fleet)
    beginOutage(wire)
    const askedAt = fleet.clock.monotonic()

    await fleet.until(node.stop({ timeout: "1s" }))

    const tookMs = fleet.clock.monotonic() - askedAt
    assert.ok(tookMs >= 1_000 && tookMs <= 4_000, `${tookMs} ms`)
    const unstored = log.lines.filter(({ message }) => message === "The run's end can't be stored")
    assert.deepEqual(unstored.map(({ runId }) => runId).sort(), ["endless", "short"])
    const last = log.lines.at(-1)
    assert.deepEqual([last?.level, last?.component], ["warn", "engine"])
    // The runs of the stopped worker are taken over when their leases end.
    await fleet.started({ tasks })
    await fleet.advance("45s")
    assert.equal((await fleet.node().runs.get("endless"))?.state, "succeeded")
  })

  test(`a stop ends while calls are under way, on a store that ${outage}`, async () => {
    await using fleet = new Fleet()
    const { node, wire } = await busyNode(fleet)
    beginOutage(wire)
    // After the next poll the loops wait for replies or for their next try.
    await fleet.advance("2m")
    const askedAt = fleet.clock.monotonic()

    await fleet.until(node.stop({ timeout: "1s" }))

    const tookMs = fleet.clock.monotonic() - askedAt
    assert.ok(tookMs <= 4_000, `${tookMs} ms`)
  })
}

test("after a stop during an outage, no call to the store is made", async () => {
  await using fleet = new Fleet()
  const { node, wire } = await busyNode(fleet)
  wire.breakDown()
  await fleet.until(node.stop({ timeout: "1s" }))
  const count = wire.calls.length

  await fleet.advance("1h")

  assert.equal(wire.calls.length, count)
})

test("a stop logs the steps that the store did not answer", async () => {
  await using fleet = new Fleet()
  const { node, wire, log } = await busyNode(fleet)
  wire.fallSilent("heartbeat", "close")

  await fleet.until(node.stop({ timeout: "3s" }))

  assert.deepEqual(log.lines.at(-1)?.["unanswered"], ["last-heartbeat", "close"])
})

test("a second stop returns the promise of the first, whatever its timeout", async () => {
  await using fleet = new Fleet()
  const { node, wire } = await busyNode(fleet)
  wire.fallSilent()

  const first = node.stop({ timeout: "1s" })
  const second = node.stop({ timeout: "1h" })

  assert.equal(first, second)
  await fleet.until(second)
})

test("runs whose claim is answered while their worker stops are released without beginning", async () => {
  await using fleet = new Fleet()
  const answer = gate()
  const begun: string[] = []
  const task = defineTask({ name: "task", run: ({ run }) => void begun.push(run.id) })
  const store = {
    ...fleet.store,
    async claim(request: Parameters<typeof fleet.store.claim>[0]) {
      const claimed = await fleet.store.claim(request)
      if (claimed.runs.length > 0) await answer.promise
      return claimed
    },
  }
  const node = await fleet.started({ store, tasks: [task] })
  await node.enqueue(task, { id: "late" })
  await fleet.advance(1)

  const stopped = node.stop({ timeout: 0 })
  await fleet.advance("1s")
  answer.open()
  await fleet.until(stopped)

  const run = await fleet.node().runs.get("late")
  assert.deepEqual([begun, run?.state, run?.attempts[0]?.outcome], [[], "pending", "released"])
})

test("a stop ends a start that the store does not answer, and no loop begins afterwards", async () => {
  await using fleet = new Fleet()
  const wire = faultyStore(fleet.store)
  const task = defineTask({ name: "task", run: () => undefined })
  const node = fleet.node({ store: wire.store, tasks: [task] })
  const listening = gate()
  const listen = wire.store.listen
  const slow = fleet.node({
    store: { ...fleet.store, listen: (onHint) => listening.promise.then(() => listen(onHint)) },
    tasks: [task],
  })
  wire.fallSilent("open")
  node.start().catch(() => undefined)
  slow.start().catch(() => undefined)

  await fleet.until(Promise.all([node.stop({ timeout: "1s" }), slow.stop({ timeout: "1s" })]))

  assert.ok(fleet.clock.monotonic() <= 4_000)
  listening.open()
  await fleet.advance("1h")
  assert.deepEqual([node.isRunning, slow.isRunning, wire.count("claim")], [false, false, 0])
  assert.deepEqual((await fleet.node().workers()).items, [])
})
