import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask, type RunEvent } from "../../src/index.ts"
import { collectedLog } from "../support/collected-log.ts"
import { faultyStore, type Operation } from "../support/faulty-store.ts"
import { Fleet, taking } from "../support/fleet.ts"

/** A process that fires and performs a run every ten seconds, on a store whose operations can be made to fail. */
async function busyNode() {
  const fleet = new Fleet()
  const performed: string[] = []
  const errors: string[] = []
  const { logger, lines } = collectedLog()
  const task = defineTask({
    name: "task",
    async run({ run, log }) {
      performed.push(`${run.id}#${run.attempt}`)
      log.info("working")
      await taking(fleet.clock, "1s")
      return run.id
    },
  })
  const wire = faultyStore(fleet.store)
  const node = await fleet.started({
    store: wire.store,
    tasks: [task],
    schedules: [task.schedule("s", { cron: "*/10 * * * * *", catchUp: "all", overlap: "allow" })],
    logger,
    hooks: { error: (_error, where) => void errors.push(where) },
  })
  return { fleet, wire, node, performed, errors, lines }
}

type Busy = Awaited<ReturnType<typeof busyNode>>

/** Every occurrence of the first ten minutes became one run, each run one success. */
async function assertNothingLostOrDoubled({ fleet }: Busy) {
  const runs = await fleet.runs()
  const ids = runs
    .filter((run) => run.scheduledFor!.getTime() <= Date.UTC(2026, 0, 1, 0, 10))
    .map((run) => run.id)
  assert.equal(ids.length, 60)
  assert.equal(new Set(ids).size, 60)
  const unfinished = runs
    .filter((run) => run.state !== "succeeded")
    .map((run) => [run.id, run.state, run.error])
  assert.deepEqual(unfinished.slice(0, -1), [], "all but the newest have succeeded")
  for (const run of runs) assert.ok(run.state !== "succeeded" || run.details === run.id)
}

const OPERATIONS: readonly Operation[] = [
  "dueSchedules",
  "fire",
  "claim",
  "heartbeat",
  "transition",
  "appendLogs",
  "prune",
  "now",
  "enqueue",
]

describe("an operation that fails for a minute", () => {
  for (const operation of OPERATIONS) {
    test(`${operation}: the loops survive, and nothing is lost or doubled`, async () => {
      const busy = await busyNode()
      await busy.fleet.advance("2m")

      busy.wire.breakDown(operation)
      await busy.fleet.advance("1m")
      busy.wire.mend()
      await busy.fleet.advance("8m")

      await assertNothingLostOrDoubled(busy)
      await busy.fleet[Symbol.asyncDispose]()
    })
  }

  test("all operations: the loops survive, and nothing is lost or doubled", async () => {
    const busy = await busyNode()
    await busy.fleet.advance("2m")

    busy.wire.breakDown()
    await busy.fleet.advance("1m")
    busy.wire.mend()
    await busy.fleet.advance("8m")

    await assertNothingLostOrDoubled(busy)
    assert.equal(busy.node.isRunning, true)
    await busy.fleet[Symbol.asyncDispose]()
  })
})

describe("an operation whose replies are lost for a minute", () => {
  for (const operation of OPERATIONS) {
    test(`${operation}: each run has exactly one result`, async () => {
      const busy = await busyNode()
      await busy.fleet.advance("2m")

      busy.wire.loseReplies(operation)
      await busy.fleet.advance("1m")
      busy.wire.mend()
      await busy.fleet.advance("8m")

      await assertNothingLostOrDoubled(busy)
      await busy.fleet[Symbol.asyncDispose]()
    })
  }
})

test("a success whose reply was lost is reported as a success, not as refused", async () => {
  await using fleet = new Fleet()
  const events: string[] = []
  const wire = faultyStore(fleet.store)
  const task = defineTask({ name: "task", run: () => "done" })
  const hooks = { run: ({ type }: RunEvent) => void events.push(type) }
  const node = await fleet.started({ store: wire.store, tasks: [task], hooks })

  wire.loseReplies("transition")
  await node.enqueue(task)
  await fleet.advance(100)
  wire.mend()
  await fleet.advance("10s")

  assert.deepEqual(events, ["started", "succeeded"])
})

test("an outage is logged once by each loop, and its end once", async () => {
  const { fleet, wire, lines, errors } = await busyNode()
  await fleet.advance("1m")
  lines.length = 0

  wire.breakDown()
  await fleet.advance("2m")
  const during = lines.filter(({ level }) => level === "error").map(({ component }) => component)
  wire.mend()
  await fleet.advance("1m")
  const after = lines.filter(({ message }) => /again$/.test(message) && !/trying/.test(message))

  for (const component of ["firing", "worker", "heartbeat"]) {
    assert.ok(during.filter((each) => each === component).length <= 2, `${component} in ${during}`)
    assert.equal(after.filter((line) => line.component === component).length, 1, component)
  }
  assert.ok(errors.length > 20, "the error hook is called for every fault")
  await fleet[Symbol.asyncDispose]()
})

test("during an outage a loop backs off to five seconds, and hints don't shorten that", async () => {
  const { fleet, wire } = await busyNode()
  wire.breakDown("dueSchedules", "enqueue")
  const before = wire.count("dueSchedules")

  for (let second = 0; second < 300; second++) {
    await fleet.node().schedules.create(`hint-${second}`, { task: "task", cron: "0 0 1 6 *" })
    await fleet.advance("1s")
  }

  const reads = wire.count("dueSchedules") - before
  assert.ok(reads >= 60 && reads <= 85, `${reads} reads in five minutes`)
  await fleet[Symbol.asyncDispose]()
})

test("a fault is logged as text, which pino and JSON can write", async () => {
  const { fleet, wire, lines } = await busyNode()

  wire.breakDown("dueSchedules")
  await fleet.advance("1m")

  const line = lines.find(({ component, level }) => component === "firing" && level === "error")
  assert.match(String(line?.["error"]), /The store is away \(dueSchedules\)/)
  assert.equal(typeof line?.["error"], "string")
  await fleet[Symbol.asyncDispose]()
})

test("a result that can't be stored within the lease is dropped, and the run is performed again", async () => {
  await using fleet = new Fleet()
  const wire = faultyStore(fleet.store)
  const { logger, lines } = collectedLog()
  let starts = 0
  const task = defineTask({ name: "task", run: () => ++starts })
  const node = await fleet.started({ store: wire.store, tasks: [task], logger })
  wire.breakDown("transition", "heartbeat")
  const { runId } = await node.enqueue(task)

  await fleet.advance("25s")
  wire.mend()
  await fleet.advance("1m")

  const run = await node.runs.get(runId)
  assert.deepEqual([run?.state, run?.details, run?.attempt], ["succeeded", 2, 2])
  assert.ok(lines.some(({ message }) => message === "The run's end can't be stored"))
})
