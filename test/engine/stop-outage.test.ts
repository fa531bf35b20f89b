import assert from "node:assert/strict"
import { test } from "vitest"
import { createScheduler, defineTask } from "../../src/index.ts"
import { collectedLog } from "../support/collected-log.ts"
import { type FaultyStore, faultyStore } from "../support/faulty-store.ts"
import { Fleet, gate, never, taking } from "../support/fleet.ts"

/** One run that never ends and one that ends while its worker stops, on a store that is about to go away. */
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

for (const [how, goAway] of OUTAGES) {
  test(`a stop ends by its timeout and 3 seconds, on a store that ${how}`, async () => {
    await using fleet = new Fleet()
    const { node, wire, log, tasks } = await busyNode(fleet)
    goAway(wire)
    const askedAt = fleet.clock.monotonic()

    await fleet.until(node.stop({ timeout: "1s" }))

    const tookMs = fleet.clock.monotonic() - askedAt
    assert.ok(tookMs >= 1_000 && tookMs <= 4_000, `${tookMs} ms`)
    const unstored = log.lines.filter(({ message }) => message === "The run's end can't be stored")
    assert.deepEqual(unstored.map(({ runId }) => runId).sort(), ["endless", "short"])
    const last = log.lines.at(-1)
    assert.deepEqual([last?.level, last?.component], ["warn", "engine"])
    // What it held is taken over when its lease ends.
    await fleet.started({ tasks })
    await fleet.advance("45s")
    assert.equal((await fleet.node().runs.get("endless"))?.state, "succeeded")
  })

  test(`a stop ends while loops are in the middle of a call, on a store that ${how}`, async () => {
    await using fleet = new Fleet()
    const { node, wire } = await busyNode(fleet)
    goAway(wire)
    // Past the next poll: the loops have asked, and wait for answers or for their next try.
    await fleet.advance("2m")
    const askedAt = fleet.clock.monotonic()

    await fleet.until(node.stop({ timeout: "1s" }))

    const tookMs = fleet.clock.monotonic() - askedAt
    assert.ok(tookMs <= 4_000, `${tookMs} ms`)
  })
}

test("after a stop that its store never answered, nothing is tried again", async () => {
  await using fleet = new Fleet()
  const { node, wire } = await busyNode(fleet)
  wire.breakDown()
  await fleet.until(node.stop({ timeout: "1s" }))
  const count = wire.calls.length

  await fleet.advance("1h")

  assert.equal(wire.calls.length, count)
})

test("a stop names the steps that the store did not answer", async () => {
  await using fleet = new Fleet()
  const { node, wire, log } = await busyNode(fleet)
  wire.fallSilent("heartbeat", "close")

  await fleet.until(node.stop({ timeout: "3s" }))

  assert.deepEqual(log.lines.at(-1)?.["unanswered"], ["goodbye", "close"])
})

test("a second stop joins the first, whatever its timeout", async () => {
  await using fleet = new Fleet()
  const { node, wire } = await busyNode(fleet)
  wire.fallSilent()

  const first = node.stop({ timeout: "1s" })
  const second = node.stop({ timeout: "1h" })

  assert.equal(first, second)
  await fleet.until(second)
})

test("runs whose claim is answered while their worker leaves are given back, unbegun", async () => {
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

test("a stop ends a start that the store does not answer, and nothing begins afterwards", async () => {
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
