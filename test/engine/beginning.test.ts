import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import type { Store } from "../../src/store/store.ts"
import { Fleet, gate, taking } from "../support/fleet.ts"

/** A task whose first runs block their process for this long as they begin: time passes, and no timer fires. */
function blockingTask(
  fleet: Fleet,
  { count, blockMs }: { count: number; blockMs: number },
  delivery: "at-least-once" | "at-most-once" = "at-least-once",
) {
  const begun: string[] = []
  const task = defineTask({
    name: "block",
    delivery,
    retry: { attempts: 1 },
    run({ run }) {
      begun.push(run.id)
      if (begun.length <= count) fleet.clock.timeline.jumpTo(fleet.clock.now() + blockMs)
    },
  })
  return { task, begun }
}

const idsOf = (count: number) => Array.from({ length: count }, (_, index) => `r${index}`)

test("many runs that block their process keep their leases until they begin", async () => {
  await using fleet = new Fleet()
  const { task, begun } = blockingTask(fleet, { count: 300, blockMs: 20 })
  const ids = idsOf(300)
  const node = fleet.node({ tasks: [task], concurrency: 300, lease: "3s" })
  await node.enqueueMany(
    task,
    ids.map((id) => ({ id })),
  )

  await fleet.until(node.start())
  await fleet.advance("1m")

  assert.deepEqual(begun, ids)
  const { succeeded } = await node.runs.count()
  const attempts = new Set((await fleet.runs()).map(({ attempt }) => attempt))
  assert.deepEqual([succeeded, [...attempts]], [300, [1]])
})

test("a run whose lease ended while another run blocked the process is given back unbegun", async () => {
  await using fleet = new Fleet()
  const { task, begun } = blockingTask(fleet, { count: 1, blockMs: 10_000 })
  let claims = 0
  const store: Store = {
    ...fleet.store,
    async claim(request) {
      if (++claims > 1) await taking(fleet.clock, "1s")
      return fleet.store.claim(request)
    },
  }
  const node = fleet.node({ store, tasks: [task], concurrency: 2, lease: "3s" })
  await node.enqueueMany(
    task,
    idsOf(2).map((id) => ({ id })),
  )

  await fleet.until(node.start())
  await fleet.advance("2m")

  const second = await node.runs.get("r1")
  const outcomes = second?.attempts.map(({ outcome }) => outcome)
  assert.deepEqual([begun, outcomes], [idsOf(2), ["released", "succeeded"]])
})

test("a claim that is answered after stop() gives its runs back unbegun", async () => {
  await using fleet = new Fleet()
  const { task, begun } = blockingTask(fleet, { count: 0, blockMs: 0 })
  const answering = gate()
  const store: Store = {
    ...fleet.store,
    async claim(request) {
      const claimed = await fleet.store.claim(request)
      await answering.promise
      return claimed
    },
  }
  const node = await fleet.started({ store, tasks: [task] })
  await node.enqueue(task, { id: "r" })
  await fleet.advance("1s")

  const stopping = node.stop()
  answering.open()
  await fleet.until(stopping)

  const run = await fleet.node().runs.get("r")
  assert.deepEqual([begun, run?.state], [[], "pending"])
})

test("stop() gives back runs that wait for their confirmation", async () => {
  await using fleet = new Fleet()
  const { task, begun } = blockingTask(fleet, { count: 0, blockMs: 0 }, "at-most-once")
  const answering = gate()
  const store: Store = {
    ...fleet.store,
    async heartbeat(beat) {
      const answer = await fleet.store.heartbeat(beat)
      if (beat.held.length > 0) await answering.promise
      return answer
    },
  }
  const node = await fleet.started({ store, tasks: [task] })
  await node.enqueue(task, { id: "r" })
  await fleet.advance("1s")

  const stopping = node.stop()
  await fleet.advance("1s")
  const run = await fleet.node().runs.get("r")
  answering.open()
  await fleet.until(stopping)

  assert.deepEqual([begun, run?.state], [[], "pending"])
})

test("a heartbeat that finds a run ended does not abort the signal of the task that ended it", async () => {
  await using fleet = new Fleet()
  const ending = gate()
  const answering = gate()
  let signal: AbortSignal | undefined
  const task = defineTask({
    name: "note",
    async run(context) {
      signal = context.signal
      await ending.promise
    },
  })
  const store: Store = {
    ...fleet.store,
    async transition(changes) {
      const answers = await fleet.store.transition(changes)
      await answering.promise
      return answers
    },
  }
  const node = await fleet.started({ store, tasks: [task], lease: "3s" })
  await node.enqueue(task, { id: "r" })
  await fleet.advance("500ms")

  ending.open()
  await fleet.advance("1m")
  answering.open()
  await fleet.advance("1s")

  assert.deepEqual([signal?.aborted, (await node.runs.get("r"))?.state], [false, "succeeded"])
})

test("a run that began after a pause loses its lease in time, though an alarm fired during the pause", async () => {
  await using fleet = new Fleet()
  const abortedAt: string[] = []
  const task = defineTask({
    name: "work",
    async run({ run, signal }) {
      if (run.id.startsWith("blocking")) fleet.clock.timeline.jumpTo(fleet.clock.now() + 200)
      if (run.id !== "waiting") return
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => {
          abortedAt.push(fleet.now())
          resolve()
        })
      })
    },
  })
  let isAway = false
  const store: Store = {
    ...fleet.store,
    async heartbeat(beat) {
      if (isAway) throw new Error("The store is away")
      return fleet.store.heartbeat(beat)
    },
  }
  const node = await fleet.started({ store, tasks: [task], lease: "30s" })
  // Its lease would be given up at 00:00:27, so an alarm is set for then.
  await node.enqueue(task, { id: "short" })
  await fleet.advance("26900ms")

  isAway = true
  const blocking = ["blocking-1", "blocking-2"].map((id) => ({ id, priority: "high" }) as const)
  await node.enqueueMany(task, [...blocking, { id: "waiting" }])
  await fleet.advance("1m")

  assert.deepEqual(abortedAt, ["2026-01-01T00:00:53.900Z"])
})

test("lateness counts the time that a claimed run waits for others to begin", async () => {
  await using fleet = new Fleet()
  const { task } = blockingTask(fleet, { count: 1, blockMs: 5_000 })
  const node = fleet.node({ tasks: [task], concurrency: 2 })
  const lateness: number[] = []
  node.on("run", (event) => {
    if (event.type === "started") lateness.push(event.latenessMs)
  })
  await node.enqueueMany(
    task,
    idsOf(2).map((id) => ({ id })),
  )

  await fleet.until(node.start())
  await fleet.advance("1m")

  assert.deepEqual(lateness, [0, 5_000])
})

test("a worker that is stopped while it looks for runs to give back claims nothing", async () => {
  await using fleet = new Fleet()
  const { task } = blockingTask(fleet, { count: 0, blockMs: 0 })
  const looking = gate()
  let claims = 0
  const store: Store = {
    ...fleet.store,
    async claim(request) {
      if (++claims === 1) throw new Error("The answer is lost")
      return fleet.store.claim(request)
    },
    async findRuns(filter, page) {
      if (claims === 1) await looking.promise
      return fleet.store.findRuns(filter, page)
    },
  }
  const node = await fleet.started({ store, tasks: [task] })
  await fleet.advance("1s")

  const stopping = node.stop()
  looking.open()
  await fleet.until(stopping)

  assert.equal(claims, 1)
})
