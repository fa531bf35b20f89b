import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask, type Hooks, jsonLogger, type RunEvent } from "../../src/index.ts"
import { collectedLog } from "../support/collected-log.ts"
import { Fleet, taking } from "../support/fleet.ts"

const task = defineTask({ name: "task", run: () => "done" })

test("start and stop are told once each", async () => {
  await using fleet = new Fleet()
  const said: string[] = []
  const hooks = { start: () => void said.push("start"), stop: () => void said.push("stop") }

  const node = await fleet.started({ tasks: [task], hooks })
  await fleet.advance("1h")
  await fleet.until(node.stop())

  assert.deepEqual(said, ["start", "stop"])
})

test("idle is told once per idle period", async () => {
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

test("a run's life is told event by event, by the process that did it", async () => {
  await using fleet = new Fleet()
  const events: RunEvent[] = []
  const schedules = [task.schedule("s", { cron: "0 * * * *" })]
  const hooks: Hooks = { run: (event) => void events.push(event) }
  await fleet.started({ tasks: [task], schedules, hooks })

  await fleet.advance("1h")

  // Two loops tell them: a quick worker may say that it started before firing has said that it fired.
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

test("a skipped occurrence is told with its reason", async () => {
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

/** Whatever a hook throws, and however it throws it. */
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
    const trouble = () => {
      throw thrown
    }
    const hooks = { start: trouble, stop: trouble, idle: trouble, error: trouble, run: trouble }
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

test("a listener hears what the hook of that name does, until it stops", async () => {
  await using fleet = new Fleet()
  const heard: string[] = []
  const task = defineTask({ name: "task", run: () => undefined })
  const node = fleet.node({ tasks: [task], hooks: { run: ({ type }) => void heard.push(`hook ${type}`) } })
  const stop = node.on("run", ({ type }) => void heard.push(type))
  node.on("run", () => {
    throw new Error("a listener's own mistake")
  })
  node.on("start", () => void heard.push("start"))
  await fleet.until(node.start())
  await node.enqueue(task)
  await fleet.advance("1s")
  stop()
  await node.enqueue(task)
  await fleet.advance("1s")

  assert.deepEqual(heard, [
    ...["start", "hook started", "started", "hook succeeded", "succeeded"],
    ...["hook started", "hook succeeded"],
  ])
  assert.throws(() => node.on("finished" as never, (() => undefined) as never), /event is "finished"/)
  assert.throws(() => node.on("run", "x" as never), /listener/)
})
