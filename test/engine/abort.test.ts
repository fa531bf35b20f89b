import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask, RunAborted, type RunEvent } from "../../src/index.ts"
import { collectedLog } from "../support/collected-log.ts"
import { aborted, Fleet, gate, never, taking, turn } from "../support/fleet.ts"
import { racingStore } from "../support/racing-store.ts"

describe("timeout", () => {
  test("a task that follows its signal ends as timed out at its timeout", async () => {
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

  /** The value that a task returns after its timeout, and whether the task reads its signal. */
  test.each([
    ["nothing", "failed", "timeout", { returned: undefined, readsSignal: true }],
    ["a value", "failed", "timeout", { returned: { half: "done" }, readsSignal: true }],
    ["success: true", "succeeded", "succeeded", { returned: { success: true }, readsSignal: true }],
    ["success: false", "failed", "timeout", { returned: { success: false }, readsSignal: true }],
    [
      "nothing and doesn't read its signal",
      "succeeded",
      "succeeded",
      { returned: undefined, readsSignal: false },
    ],
  ])("a task that returns %s after its timeout is %s with the outcome %s", async (...given) => {
    const [, state, outcome, about] = given
    await using fleet = new Fleet()
    const task = defineTask({
      name: "task",
      timeout: "10s",
      retry: { attempts: 1 },
      async run(context) {
        if (about.readsSignal) await aborted(context.signal)
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

  test("a task that ignores its signal fails five seconds after its timeout and is retried", async () => {
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

  test("an attempt that ignores its timeout keeps even a short lease until it is settled", async () => {
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

  test("a stop ends an attempt that is past its timeout at once, and the attempt counts as timed out", async () => {
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

  test("a timeout of the schedule or the run takes precedence over that of the task", async () => {
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

  test("the signal of an attempt that ended in time is never aborted", async () => {
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
  test("cancelling a running run aborts its signal at once, and its later result changes nothing", async () => {
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

  test("a run that ends by itself just after it was cancelled is reported as cancelled, without a warning", async () => {
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

  test("a run that a newer run replaces is reported as cancelled, without a warning", async () => {
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

  test("a run that a worker claims while a newer run replaces it is still cancelled", async () => {
    await using fleet = new Fleet()
    const task = defineTask({ name: "task", run: ({ signal }) => aborted(signal) })
    const schedule = task.schedule("s", { every: "1m", overlap: "replace" })
    // The first run is pending until the second is fired, and is claimed between the plan and its write.
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

  test("a run of another process is cancelled through the store, at its next heartbeat at the latest", async () => {
    await using fleet = new Fleet()
    let abortedAt: number | null = null
    const task = defineTask({
      name: "task",
      async run({ signal }) {
        await aborted(signal)
        abortedAt = fleet.clock.monotonic() / 1_000
      },
    })
    const withoutHints = { ...fleet.store, listen: async () => async () => undefined }
    const worker = await fleet.started({ store: withoutHints, tasks: [task], lease: "30s" })
    const { runId } = await worker.enqueue(task)
    await fleet.advance("1s")

    await fleet.node().runs.cancel(runId)
    await fleet.advance("1m")

    assert.equal(abortedAt, 10)
  })

  test("a cancelled pending run never starts", async () => {
    await using fleet = new Fleet()
    let starts = 0
    const task = defineTask({ name: "task", run: () => void starts++ })
    const node = await fleet.started({ tasks: [task] })
    const { runId } = await node.enqueue(task, { delay: "1m" })

    await node.runs.cancel(runId)
    await fleet.advance("1h")

    assert.equal(starts, 0)
  })

  test("the slot of a cancelled task that ignores its signal is free after five seconds", async () => {
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
