import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask, type TaskContext } from "../../src/index.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { aborted, Fleet, gate, taking } from "../support/fleet.ts"

/** One run of a task that reports progress, on a store whose calls are counted. */
async function reporting(fleet: Fleet, perform: (context: TaskContext) => unknown, retry = 1) {
  const wire = faultyStore(fleet.store)
  const task = defineTask({ name: "task", retry: { attempts: retry, delay: "1m" }, run: perform })
  const node = await fleet.started({ store: wire.store, tasks: [task] })
  const beats = wire.count("heartbeat")
  return {
    node,
    wire,
    beats: () => wire.count("heartbeat") - beats,
    async perform() {
      const { runId } = await node.enqueue(task)
      await fleet.advance("5s")
      return (await fleet.node().runs.get(runId))!
    },
  }
}

describe("a fraction that isn't between 0 and 1", () => {
  test.each([[50], [-0.1], [1.01], ["50"], [Number.NaN], [undefined]])("%j is refused", async (fraction) => {
    await using fleet = new Fleet()
    const { perform } = await reporting(fleet, ({ progress }) => progress(fraction as number))

    const { state, error, progress } = await perform()

    assert.deepEqual([state, progress], ["failed", null])
    assert.match(error!, /progress: fraction is .*; use a number between 0 and 1, such as 0.5 for half/)
  })

  test("a sum that misses 1 by rounding is 1", async () => {
    await using fleet = new Fleet()
    const { perform } = await reporting(fleet, ({ progress }) => progress(1 + Number.EPSILON))

    assert.equal((await perform()).progress?.fraction, 1)
  })
})

describe("progress reported just before the end", () => {
  test("progress reported just before the end is stored with a success", async () => {
    await using fleet = new Fleet()
    const { perform } = await reporting(fleet, ({ progress }) => progress(1, "all of it"))

    const run = await perform()

    assert.deepEqual([run.state, run.progress], ["succeeded", { fraction: 1, message: "all of it" }])
  })

  test("progress reported just before the end is stored with a failure", async () => {
    await using fleet = new Fleet()
    const { perform } = await reporting(fleet, ({ progress }) => {
      progress(0.25)
      progress(0.75, "three of four")
      throw new Error("no more")
    })

    const run = await perform()

    assert.deepEqual([run.state, run.progress], ["failed", { fraction: 0.75, message: "three of four" }])
  })

  test("progress is stored with a released run", async () => {
    await using fleet = new Fleet()
    const { node } = await reporting(fleet, async ({ progress, signal }) => {
      progress(0.5)
      await aborted(signal)
      throw signal.reason
    })
    const { runId } = await node.enqueue("task")
    await fleet.advance(1)

    await fleet.until(node.stop({ timeout: 0 }))

    const run = (await fleet.node().runs.get(runId))!
    assert.deepEqual([run.state, run.progress?.fraction], ["pending", 0.5])
  })

  test("progress reported just before the end is stored in the same call as the end", async () => {
    await using fleet = new Fleet()
    const end = gate()
    const { node, beats } = await reporting(fleet, async ({ progress }) => {
      await end.promise
      progress(1)
    })

    for (let index = 0; index < 10; index++) await node.enqueue("task", { id: `run-${index}` })
    await fleet.advance(1)
    end.open()
    await fleet.advance(1)

    const runs = (await node.runs.list()).items
    assert.ok(runs.every(({ state, progress }) => state === "succeeded" && progress?.fraction === 1))
    assert.equal(beats(), 0)
  })

  test("a run without new progress causes no extra heartbeat", async () => {
    await using fleet = new Fleet()
    const { node, beats } = await reporting(fleet, async ({ run, progress }) => {
      if (run.id === "early") progress(0.5)
      await taking(fleet.clock, "1500ms")
    })

    await node.enqueue("task", { id: "early" })
    await node.enqueue("task", { id: "silent" })
    await fleet.advance("5s")

    assert.equal((await node.runs.get("early"))?.progress?.fraction, 0.5)
    assert.equal(beats(), 1)
  })

  test.each(["breakDown", "fallSilent"] as const)(
    "progress is stored even if heartbeats fail (%s)",
    async (fault) => {
      await using fleet = new Fleet()
      const { wire, perform } = await reporting(fleet, ({ progress }) => {
        wire[fault]("heartbeat")
        progress(1)
      })

      const run = await perform()

      assert.deepEqual([run.state, run.progress?.fraction], ["succeeded", 1])
    },
  )
})
