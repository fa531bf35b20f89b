import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask, type Hooks, jsonLogger, type RunEvent } from "../../src/index.ts"
import { collectedLog } from "../support/collected-log.ts"
import { Fleet, taking } from "../support/fleet.ts"

const task = defineTask({ name: "task", run: () => "done" })

test("the hooks `start` and `stop` are called once each", async () => {
  await using fleet = new Fleet()
  const calls: string[] = []
  const hooks = { start: () => void calls.push("start"), stop: () => void calls.push("stop") }

  const node = await fleet.started({ tasks: [task], hooks })
  await fleet.advance("1h")
  await fleet.until(node.stop())

  assert.deepEqual(calls, ["start", "stop"])
})

test("the hook `idle` is called once per idle period", async () => {
  await using fleet = new Fleet()
  const idleAt: number[] = []
  const slow = defineTask({ name: "slow", run: () => taking(fleet.clock, "10s") })
  const hooks = { idle: () => void idleAt.push(fleet.clock.monotonic() / 1_000) }
  const node = await fleet.started({ tasks: [slow], hooks })

  await fleet.advance("10m")
  await node.enqueue(slow)
  await node.enqueue(slow)
  await fleet.advance("10m")
  await node.enqueue(slow)
  await fleet.advance("10m")

  assert.deepEqual(idleAt, [0, 610, 1_210])
})

test("each change of a run is reported as an event by the process that made it", async () => {
  await using fleet = new Fleet()
  const events: RunEvent[] = []
  const schedules = [task.schedule("s", { cron: "0 * * * *" })]
  const hooks: Hooks = { run: (event) => void events.push(event) }
  await fleet.started({ tasks: [task], schedules, hooks })

  await fleet.advance("1h")

  // Two loops report events, so "started" of a quick worker may precede "created" of the firing loop.
  assert.deepEqual(events.map(({ type }) => type).sort(), ["created", "started", "succeeded"])
  assert.deepEqual(
    events.find(({ type }) => type === "created"),
    {
      type: "created",
      runId: "s@2026-01-01T01:00:00Z",
      task: "task",
      scheduleId: "s",
      scheduledFor: new Date("2026-01-01T01:00:00Z"),
      attempt: 0,
    },
  )
})

test("the event of a skipped occurrence has its reason", async () => {
  await using fleet = new Fleet()
  const events: RunEvent[] = []
  const slow = defineTask({ name: "slow", run: () => taking(fleet.clock, "90m") })
  const schedules = [slow.schedule("s", { cron: "0 * * * *" })]
  await fleet.started({ tasks: [slow], schedules, hooks: { run: (event) => void events.push(event) } })

  await fleet.advance("2h")

  assert.deepEqual(
    events.find(({ type }) => type === "skipped"),
    {
      type: "skipped",
      runId: "s@2026-01-01T02:00:00Z",
      task: "slow",
      scheduleId: "s",
      scheduledFor: new Date("2026-01-01T02:00:00Z"),
      attempt: 0,
      reason: "overlap",
      message: "Still unfinished: s@2026-01-01T01:00:00Z",
    },
  )
})

/** Values that a hook may throw. */
const circular: Record<string, unknown> = {}
circular["self"] = circular
const THROWN: Readonly<Record<string, unknown>> = {
  "an error": new Error("hook trouble"),
  "a string": "trouble",
  undefined: undefined,
  "a circular object": circular,
}

for (const [name, thrown] of Object.entries(THROWN)) {
  test(`hooks that throw ${name} are logged and change nothing`, async () => {
    await using fleet = new Fleet()
    const lines: string[] = []
    const throwing = () => {
      throw thrown
    }
    const hooks = { start: throwing, stop: throwing, idle: throwing, error: throwing, run: throwing }
    const schedules = [task.schedule("s", { cron: "* * * * *" })]
    const logger = jsonLogger({ write: (line) => void lines.push(line) })
    const node = await fleet.started({ tasks: [task], schedules, hooks, logger })

    await fleet.advance("10m")
    await fleet.until(node.stop())

    assert.equal((await fleet.node().runs.count()).succeeded, 10)
    assert.ok(lines.some((line) => line.includes("A hook threw")))
  })
}

test("an async hook that rejects is logged and doesn't end the process", async () => {
  await using fleet = new Fleet()
  const { logger, lines } = collectedLog()
  const run = (async () => {
    throw new Error("rejected")
  }) as unknown as NonNullable<Hooks["run"]>
  const node = await fleet.started({ tasks: [task], hooks: { run }, logger })

  const { runId } = await node.enqueue(task)
  await fleet.advance("1s")

  assert.equal((await node.runs.get(runId))?.state, "succeeded")
  const line = lines.find(({ component }) => component === "hooks")
  assert.match(String(line?.["error"]), /rejected/)
})

test("a listener gets the same events as the hook of that name until it is removed", async () => {
  await using fleet = new Fleet()
  const calls: string[] = []
  const task = defineTask({ name: "task", run: () => undefined })
  const node = fleet.node({ tasks: [task], hooks: { run: ({ type }) => void calls.push(`hook ${type}`) } })
  const stop = node.on("run", ({ type }) => void calls.push(type))
  node.on("run", () => {
    throw new Error("a listener's own mistake")
  })
  node.on("start", () => void calls.push("start"))
  await fleet.until(node.start())
  await node.enqueue(task)
  await fleet.advance("1s")
  stop()
  await node.enqueue(task)
  await fleet.advance("1s")

  assert.deepEqual(calls, [
    ...["start", "hook started", "started", "hook succeeded", "succeeded"],
    ...["hook started", "hook succeeded"],
  ])
  assert.throws(() => node.on("finished" as never, (() => undefined) as never), /event is "finished"/)
  assert.throws(() => node.on("run", "x" as never), /listener/)
})
