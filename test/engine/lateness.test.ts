import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask, type RunEvent, type Scheduler, type TaskContext } from "../../src/index.ts"
import { Fleet, taking } from "../support/fleet.ts"

/** A worker for the task, and the lateness of each attempt that it began. */
async function working(fleet: Fleet, perform: (context: TaskContext) => unknown = () => undefined) {
  const lateness: number[] = []
  const run = (event: RunEvent) => void (event.type === "started" && lateness.push(event.latenessMs))
  const task = defineTask({ name: "task", retry: { attempts: 2, delay: "1m", jitter: 0 }, run: perform })
  const node = await fleet.started({ tasks: [task], concurrency: 1, hooks: { run } })
  return { node, lateness }
}

const dateOf = (time: string) => new Date(`2026-01-01T${time}Z`)
const HOURLY = { task: "task", cron: "0 * * * *" }

describe("runs that begin when they are due", () => {
  test.each<[run: string, request: (node: Scheduler) => Promise<unknown>]>([
    ["an occurrence", (node) => node.schedules.create("s", HOURLY)],
    ["an occurrence delayed by jitter", (node) => node.schedules.create("s", { ...HOURLY, jitter: "40m" })],
    [
      "an occurrence moved by an operator",
      async (node) => {
        await node.schedules.create("s", HOURLY)
        await node.schedules.move("s", dateOf("01:00:00"), dateOf("01:20:00"))
      },
    ],
    ["an enqueued run", (node) => node.enqueue("task")],
    ["an enqueued run with a delay", (node) => node.enqueue("task", { delay: "30m" })],
    ["an enqueued run for a future instant", (node) => node.enqueue("task", { at: dateOf("01:15:00") })],
    ["an enqueued run for a past instant", (node) => node.enqueue("task", { at: dateOf("00:00:00") })],
  ])("the lateness is 0 for %s", async (_, request) => {
    await using fleet = new Fleet("2026-01-01T00:30:00Z")
    const { node, lateness } = await working(fleet)

    await request(node)
    await fleet.advance("80m")

    assert.deepEqual(lateness, [0])
  })

  test("the lateness is 0 for an attempt after a back-off", async () => {
    await using fleet = new Fleet()
    const { node, lateness } = await working(fleet, () => Promise.reject(new Error("no route")))

    await node.enqueue("task")
    await fleet.advance("5m")

    assert.deepEqual(lateness, [0, 0])
  })
})

describe("runs that begin late", () => {
  test("the lateness of a catch-up run counts from the time at which its occurrence was due", async () => {
    await using fleet = new Fleet()
    await fleet.node().schedules.create("s", HOURLY)

    await fleet.advance("1h10s")
    const { lateness, node } = await working(fleet)
    await fleet.advance("1h")

    assert.deepEqual(lateness, [10_000, 0])
    const { items: entries } = await node.schedules.occurrences("s")
    assert.deepEqual(
      entries.map(({ latenessMs }) => latenessMs),
      [0, 10_000],
    )
  })

  test("the lateness of a retry counts from the end of its back-off", async () => {
    await using fleet = new Fleet()
    const { node, lateness } = await working(fleet, async ({ run }) => {
      if (run.id === "other") await taking(fleet.clock, "90s")
      else if (run.attempt === 1) throw new Error("no route")
    })

    await node.enqueue("task", { id: "failing" })
    await fleet.advance(1)
    await node.enqueue("task", { id: "other" })
    await fleet.advance("5m")

    // The back-off of a minute ended while the other run had half a minute to go.
    assert.deepEqual(lateness, [0, 0, 30_001])
    const run = await node.runs.get("failing")
    assert.equal(run!.startedAt!.getTime() - run!.dueAt!.getTime(), 30_001)
  })

  test("the lateness of a released run counts from its release", async () => {
    await using fleet = new Fleet()
    const first = await working(fleet, () => taking(fleet.clock, "1h"))
    await first.node.enqueue("task")
    await fleet.advance("10m")
    await fleet.until(first.node.stop({ timeout: 0 }))

    await fleet.advance("5s")
    const second = await working(fleet)

    await fleet.advance("1s")
    assert.deepEqual([first.lateness, second.lateness], [[0], [5_000]])
  })
})
