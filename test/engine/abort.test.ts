import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask, RunAborted, type RunEvent } from "../../src/index.ts"
import { collectedLog } from "../support/collected-log.ts"
import { aborted, Fleet, gate, never, taking, turn } from "../support/fleet.ts"
import { racingStore } from "../support/racing-store.ts"

describe("timeout", () => {
  test("a task that follows its signal ends as timed out when its time is up", async () => {
    await using fleet = new Fleet()
    let reason: unknown
    const task = defineTask({
      name: "task",
      timeout: "10s",
      retry: { attempts: 1 },
      async run({ signal }) {
        await aborted(signal)
        reason = signal.reason
        throw signal.reason
      },
    })
    const node = await fleet.started({ tasks: [task] })
    const { runId } = await node.enqueue(task)

    await fleet.advance("10s")

    const run = await node.runs.get(runId)
    assert.ok(reason instanceof RunAborted)
    assert.equal(reason.why, "timeout")
    assert.deepEqual([run?.state, run?.error], ["failed", "Timed out after 10s"])
    assert.equal(run?.attempts[0]?.outcome, "timeout")
  })

  /** Tasks that return when their time is up; what each returns, and whether it knows its signal. */
  test.each([
    ["nothing", { returned: undefined, knowsSignal: true }, "failed", "timeout"],
    ["a value", { returned: { half: "done" }, knowsSignal: true }, "failed", "timeout"],
    ["that it succeeded", { returned: { success: true }, knowsSignal: true }, "succeeded", "succeeded"],
    ["that it failed", { returned: { success: false }, knowsSignal: true }, "failed", "timeout"],
    [
      "nothing, without a look at its signal",
      { returned: undefined, knowsSignal: false },
      "succeeded",
      "succeeded",
    ],
  ])("a task that returns %s after its time is up", async (_what, about, state, outcome) => {
    await using fleet = new Fleet()
    const task = defineTask({
      name: "task",
      timeout: "10s",
      retry: { attempts: 1 },
      async run(context) {
        if (about.knowsSignal) await aborted(context.signal)
        else await taking(fleet.clock, "11s")
        return about.returned
      },
    })
    const node = await fleet.started({ tasks: [task] })
    const { runId } = await node.enqueue(task)

    await fleet.advance("12s")

    const run = await node.runs.get(runId)
    assert.deepEqual([run?.state, run?.attempts[0]?.outcome], [state, outcome])
  })

  test("a task that ignores its signal is settled without it five seconds later, and retried", async () => {
    await using fleet = new Fleet()
    const startedAt: number[] = []
    const task = defineTask({
      name: "task",
      timeout: "10s",
      retry: { attempts: 2, delay: "1s", jitter: 0 },
      run() {
        startedAt.push(fleet.clock.monotonic() / 1_000)
        return never
      },
    })
    const node = await fleet.started({ tasks: [task] })
    const { runId } = await node.enqueue(task)

    await fleet.advance("1m")

    const run = await node.runs.get(runId)
    assert.deepEqual(startedAt, [0, 16])
    assert.deepEqual([run?.state, run?.failures, run?.lost], ["failed", 2, 0])
  })

  test("an attempt that ignores its timeout keeps its lease until it is settled, however short the lease", async () => {
    await using fleet = new Fleet()
    const task = defineTask({
      name: "task",
      timeout: "10s",
      lease: "2s",
      retry: { attempts: 1 },
      run: () => never,
    })
    const node = await fleet.started({ tasks: [task] })
    await fleet.started({ tasks: [task] })
    const { runId } = await node.enqueue(task)

    await fleet.advance("1m")

    const run = await node.runs.get(runId)
    assert.deepEqual([run?.state, run?.attempt, run?.lost], ["failed", 1, 0])
    assert.equal(run?.error, "Timed out after 10s")
  })

  test("a stop ends an attempt in the grace of its timeout at once, and it counts as timed out", async () => {
    await using fleet = new Fleet()
    const { logger, lines } = collectedLog()
    const task = defineTask({ name: "task", timeout: "10s", retry: { attempts: 1 }, run: () => never })
    const node = await fleet.started({ tasks: [task], logger })
    const { runId } = await node.enqueue(task)
    await fleet.advance("11s")
    const askedAt = fleet.clock.monotonic()

    await fleet.until(node.stop({ timeout: 0 }))

    assert.equal(fleet.clock.monotonic() - askedAt, 0)
    assert.equal(lines.at(-1)?.message, "The scheduler stopped")
    const run = await fleet.node().runs.get(runId)
    assert.deepEqual([run?.state, run?.error], ["failed", "Timed out after 10s"])
  })

  test("a timeout on the schedule or the run counts before the task's", async () => {
    await using fleet = new Fleet()
    const task = defineTask({
      name: "task",
      timeout: "1h",
      retry: { attempts: 1 },
      run: ({ signal }) => aborted(signal).then(() => Promise.reject(signal.reason)),
    })
    const node = await fleet.started({ tasks: [task] })
    await node.enqueue(task, { id: "run", timeout: "3s" })
    await node.schedules.create("schedule", { task, in: "1s", timeout: "4s" })

    await fleet.advance("5s")

    assert.equal((await node.runs.get("run"))?.error, "Timed out after 3s")
    assert.equal((await node.runs.get("schedule@2026-01-01T00:00:01Z"))?.error, "Timed out after 4s")
  })

  test("no timer is left behind by an attempt that ended in time", async () => {
    await using fleet = new Fleet()
    const signals: AbortSignal[] = []
    const task = defineTask({ name: "task", timeout: "10s", run: ({ signal }) => void signals.push(signal) })
    const node = await fleet.started({ tasks: [task] })
    await node.enqueue(task)

    await fleet.advance("1m")

    assert.deepEqual(
      signals.map((signal) => signal.aborted),
      [false],
    )
  })
})

describe("cancel", () => {
  test("cancelling a running run aborts its signal at once, and what it returns later changes nothing", async () => {
    await using fleet = new Fleet()
    const events: string[] = []
    const held = gate<string>()
    let why: unknown
    const task = defineTask({
      name: "task",
      async run({ signal }) {
        await aborted(signal)
        why = (signal.reason as RunAborted).why
        return held.promise
      },
    })
    const hooks = { run: (event: RunEvent) => void events.push(event.type) }
    const { logger, lines } = collectedLog()
    const node = await fleet.started({ tasks: [task], hooks, logger })
    const { runId } = await node.enqueue(task)
    await fleet.advance("1s")

    const cancelled = await node.runs.cancel(runId, { reason: "wrong day", by: "ada" })
    await fleet.advance(1)
    assert.deepEqual([cancelled.state, cancelled.reason, cancelled.by], ["cancelled", "wrong day", "ada"])
    assert.equal(why, "cancelled")

    held.open("done after all")
    await fleet.advance("1m")
    const run = await node.runs.get(runId)
    assert.deepEqual([run?.state, run?.details, run?.attempt], ["cancelled", null, 1])
    assert.deepEqual(events, ["started", "cancelled"])
    assert.deepEqual(
      lines.filter(({ level }) => level === "warn" || level === "error"),
      [],
    )
  })

  test("a run that ends by itself just after it was cancelled is told as cancelled, without a warning", async () => {
    await using fleet = new Fleet()
    const events: string[] = []
    const { logger, lines } = collectedLog()
    const task = defineTask({ name: "task", run: ({ run }) => fleet.node().runs.cancel(run.id) })
    const hooks = { run: (event: RunEvent) => void events.push(event.type) }
    const node = await fleet.started({ tasks: [task], hooks, logger })

    await node.enqueue(task)
    await fleet.advance("1m")

    assert.deepEqual(events, ["started", "cancelled"])
    assert.ok(lines.every(({ level }) => level !== "warn"))
  })

  test("a run that a newer one replaces is told as cancelled, without a warning", async () => {
    await using fleet = new Fleet()
    const events: string[] = []
    const { logger, lines } = collectedLog()
    const task = defineTask({ name: "task", run: ({ signal }) => aborted(signal) })
    const schedules = [task.schedule("s", { every: "1m", overlap: "replace" })]
    const hooks = {
      run: (event: RunEvent) => void events.push(`${event.type}@${event.scheduledFor?.getUTCMinutes()}`),
    }
    await fleet.started({ tasks: [task], schedules, hooks, logger })

    await fleet.advance("2m")

    assert.deepEqual(
      events.filter((event) => event.endsWith("@1")),
      ["created@1", "started@1", "cancelled@1"],
    )
    assert.ok(lines.every(({ level }) => level !== "warn"))
  })

  test("a run that a worker takes while a newer one replaces it is cancelled all the same", async () => {
    await using fleet = new Fleet()
    const task = defineTask({ name: "task", run: ({ signal }) => aborted(signal) })
    const schedule = task.schedule("s", { every: "1m", overlap: "replace" })
    // The first run waits until the second is fired, and is taken at that very moment.
    const claim = { workerId: "worker", tasks: [{ name: "task", leaseMs: 600_000 }], limit: 10 }
    const store = racingStore(fleet.store, "transition", () => fleet.store.claim(claim))
    const node = fleet.node({ tasks: [task], schedules: [schedule], store })
    await fleet.until(node.start({ roles: ["fire"] }))

    await fleet.advance("150s")

    const states = (await fleet.runs()).map(({ id, state }) => [id.slice(-9), state]).sort()
    assert.deepEqual(states, [
      ["00:01:00Z", "cancelled"],
      ["00:02:00Z", "pending"],
    ])
  })

  test("another process's run is cancelled through the store, at its next heartbeat at the latest", async () => {
    await using fleet = new Fleet()
    let abortedAt: number | null = null
    const task = defineTask({
      name: "task",
      async run({ signal }) {
        await aborted(signal)
        abortedAt = fleet.clock.monotonic() / 1_000
      },
    })
    const deaf = { ...fleet.store, listen: async () => async () => undefined }
    const worker = await fleet.started({ store: deaf, tasks: [task], lease: "30s" })
    const { runId } = await worker.enqueue(task)
    await fleet.advance("1s")

    await fleet.node().runs.cancel(runId)
    await fleet.advance("1m")

    assert.equal(abortedAt, 10)
  })

  test("a pending run that is cancelled never starts", async () => {
    await using fleet = new Fleet()
    let starts = 0
    const task = defineTask({ name: "task", run: () => void starts++ })
    const node = await fleet.started({ tasks: [task] })
    const { runId } = await node.enqueue(task, { delay: "1m" })

    await node.runs.cancel(runId)
    await fleet.advance("1h")

    assert.equal(starts, 0)
  })

  test("a slot taken by a cancelled task that ignores its signal is free again after five seconds", async () => {
    await using fleet = new Fleet()
    const task = defineTask({ name: "task", run: ({ run }) => (run.id === "stuck" ? never : "done") })
    const node = await fleet.started({ tasks: [task], concurrency: 1 })
    await node.enqueue(task, { id: "stuck" })
    await fleet.advance("1s")
    await node.enqueue(task, { id: "next" })

    await node.runs.cancel("stuck")
    await fleet.advance("5s")
    await turn()

    assert.equal((await node.runs.get("next"))?.state, "succeeded")
  })
})
