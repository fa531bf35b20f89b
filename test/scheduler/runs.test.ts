import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { Fleet, never } from "../support/fleet.ts"

const failing = defineTask({
  name: "failing",
  retry: { attempts: 1 },
  run: ({ run }) => (run.attempt === 1 ? Promise.reject(new Error("no luck")) : "luck"),
})
const task = defineTask({ name: "task", run: () => "done" })
const endless = defineTask({ name: "endless", run: () => never })

test("get returns a run with its attempts", async () => {
  await using fleet = new Fleet()
  const node = await fleet.started({ tasks: [task] })
  await node.enqueue(task, { id: "r" })
  await fleet.advance("1s")

  const run = (await node.runs.get("r"))!

  const { workerId, ...attempt } = run.attempts[0]!
  assert.match(workerId, /:\d+:/)
  const at = new Date("2026-01-01T00:00:00Z")
  assert.deepEqual(attempt, {
    attempt: 1,
    dueAt: at,
    startedAt: at,
    endedAt: at,
    durationMs: 0,
    outcome: "succeeded",
    error: null,
  })
  assert.deepEqual([run.success, run.durationMs, run.completedAt, run.claimableAt], [true, 0, at, null])
  assert.equal(await node.runs.get("no such run"), null)
})

test("list returns runs newest first, filtered, page by page", async () => {
  await using fleet = new Fleet()
  const node = await fleet.started({ tasks: [task, failing] })
  for (let index = 0; index < 6; index++) {
    await node.enqueue(index % 2 === 0 ? task : failing, { id: `r${index}` })
    await fleet.advance("1s")
  }
  const ids = async (query?: Parameters<typeof node.runs.list>[0]) =>
    (await node.runs.list(query)).items.map(({ id }) => id)

  assert.deepEqual(await ids(), ["r5", "r4", "r3", "r2", "r1", "r0"])
  assert.deepEqual(await ids({ task }), ["r4", "r2", "r0"])
  assert.deepEqual(await ids({ task: "failing" }), ["r5", "r3", "r1"])
  assert.deepEqual(await ids({ state: "failed", limit: 1 }), ["r5"])
  assert.deepEqual(await ids({ state: ["failed", "succeeded"], triggeredBy: "api", limit: 2 }), ["r5", "r4"])
  assert.deepEqual(await ids({ schedule: "none" }), [])
  const { next } = await node.runs.list({ limit: 2 })
  assert.deepEqual(await ids({ cursor: next!, limit: 2 }), ["r3", "r2"])
  const all: string[] = []
  for await (const { id } of node.runs.list({ limit: 4 })) all.push(id)
  assert.deepEqual(all, ["r5", "r4", "r3", "r2", "r1", "r0"])
})

test("list filters by time, beginning of the id, worker and parent", async () => {
  await using fleet = new Fleet()
  const node = await fleet.started({ tasks: [task, endless] })
  for (let index = 0; index < 4; index++) {
    await node.enqueue(task, { id: `${index % 2 === 0 ? "even" : "odd"}-${index}` })
    await fleet.advance("1s")
  }
  await node.enqueue(endless, { id: "held" })
  await fleet.advance("1s")
  const second = (count: number) => new Date(Date.parse("2026-01-01T00:00:00Z") + count * 1_000)
  const ids = async (query?: Parameters<typeof node.runs.list>[0]) =>
    (await node.runs.list(query)).items.map(({ id }) => id)

  assert.deepEqual(await ids({ since: second(2) }), ["held", "odd-3", "even-2"])
  assert.deepEqual(await ids({ until: second(2) }), ["odd-1", "even-0"])
  assert.deepEqual(await ids({ since: second(1), until: second(3) }), ["even-2", "odd-1"])
  assert.deepEqual(await ids({ idPrefix: "even-" }), ["even-0", "even-2"])
  const { next } = await node.runs.list({ idPrefix: "even-", limit: 1 })
  assert.deepEqual(await ids({ idPrefix: "even-", cursor: next! }), ["even-2"])
  const { workerId } = (await node.runs.get("held"))!
  assert.deepEqual(await ids({ worker: workerId! }), ["held"])
  assert.deepEqual(await ids({ parent: "even-0" }), [])
})

test("list returns summaries: the message is cut to 200 characters, and large values are omitted", async () => {
  await using fleet = new Fleet()
  const wordy = defineTask({
    name: "wordy",
    run: () => ({ success: true, message: "é".repeat(1_000), details: [1] }),
  })
  const node = await fleet.started({ tasks: [wordy] })
  await node.enqueue(wordy, { id: "r" })
  await fleet.advance("1s")

  const [summary] = (await node.runs.list()).items
  const whole = (await node.runs.get("r"))!

  assert.equal(summary!.message, "é".repeat(200))
  assert.equal(whole.message, "é".repeat(1_000))
  const { payload: _, details, attempts, ...rest } = whole
  assert.deepEqual([details, attempts.length], [[1], 1])
  assert.deepEqual({ ...summary, message: rest.message }, rest)
})

test("a schedule has the state and the time of its last ended run", async () => {
  await using fleet = new Fleet()
  const node = await fleet.started({ tasks: [failing] })
  await node.schedules.create("s", { task: "failing", every: "1h" })
  const ends = async () => {
    const { lastState, lastEndedAt, lastSuccessAt, failuresInARow } = (await node.schedules.get("s"))!
    return [lastState, lastEndedAt?.toISOString(), lastSuccessAt?.toISOString(), failuresInARow]
  }
  assert.deepEqual(await ends(), [null, undefined, undefined, 0])
  await fleet.advance("2h")
  const second = "2026-01-01T02:00:00.000Z"
  assert.deepEqual(await ends(), ["failed", second, undefined, 2])

  const [run] = (await node.runs.list()).items
  await node.runs.retry(run!.id)
  await fleet.advance("1s")

  assert.deepEqual(await ends(), ["succeeded", second, second, 0])
})

test("count returns the number of runs by state", async () => {
  await using fleet = new Fleet()
  const node = await fleet.started({ tasks: [task, failing] })
  await node.enqueue(task)
  await node.enqueue(failing)
  await node.enqueue("unknown-task")
  await fleet.advance("1s")

  const none = { running: 0, cancelled: 0, skipped: 0 }
  assert.deepEqual(await node.runs.count(), { ...none, pending: 1, succeeded: 1, failed: 1 })
  assert.deepEqual(await node.runs.count({ task }), { ...none, pending: 0, succeeded: 1, failed: 0 })
})

test("a failed run is retried as the same run, and its failures count from 0", async () => {
  await using fleet = new Fleet()
  const node = await fleet.started({ tasks: [failing] })
  await node.enqueue(failing, { id: "r" })
  await fleet.advance("1s")

  const retried = await node.runs.retry("r", { by: "ada" })
  assert.deepEqual([retried.failures, retried.by], [0, "ada"])
  await fleet.advance("1s")

  const run = await node.runs.get("r")
  assert.deepEqual([run?.state, run?.attempt, run?.details, run?.error], ["succeeded", 2, "luck", null])
  assert.deepEqual(
    run?.attempts.map(({ outcome }) => outcome),
    ["failed", "succeeded"],
  )
})

test("a cancelled run can be retried", async () => {
  await using fleet = new Fleet()
  const node = fleet.node({ tasks: [task] })
  await node.enqueue(task, { id: "r" })
  await node.runs.cancel("r")

  assert.equal((await node.runs.retry("r")).state, "pending")
})

test("a step that doesn't apply to the run's state is refused", async () => {
  await using fleet = new Fleet()
  const node = await fleet.started({ tasks: [task] })
  await node.enqueue(task, { id: "done" })
  await node.enqueue("later", { id: "pending" })
  await fleet.advance("1s")
  const refused = (step: Promise<unknown>, message: string) =>
    assert.rejects(step, { code: "BELFRY_RUN_STATE", message, status: 409 })

  await refused(node.runs.cancel("done"), `Run "done" is succeeded and can't be cancelled.`)
  await refused(node.runs.retry("done"), `Run "done" is succeeded and can't be retried.`)
  await refused(node.runs.release("done"), `Run "done" is succeeded and can't be released.`)
  await refused(node.runs.retry("pending"), `Run "pending" is pending and can't be retried.`)
  await refused(node.runs.release("pending"), `Run "pending" is pending and can't be released.`)
})

test("steps on an unknown run are refused", async () => {
  await using fleet = new Fleet()
  const { runs } = fleet.node()
  const missing = { code: "BELFRY_RUN_NOT_FOUND", message: 'There is no run "x".' }

  await assert.rejects(runs.cancel("x"), missing)
  await assert.rejects(runs.retry("x"), missing)
  await assert.rejects(runs.release("x"), missing)
  await assert.rejects(runs.logs("x").finally(), missing)
})

test("a run can't be retried while another unfinished run has its key", async () => {
  await using fleet = new Fleet()
  const node = fleet.node()
  await node.enqueue("later", { id: "first", key: "k" })
  await node.runs.cancel("first")
  await node.enqueue("later", { id: "second", key: "k" })

  await assert.rejects(node.runs.retry("first"), {
    code: "BELFRY_RUN_HELD",
    message: `Run "first" can't be retried: another unfinished run holds its key.`,
  })
})

test("a released run is claimed by the next worker, and the attempt doesn't count as a failure", async () => {
  await using fleet = new Fleet()
  const node = await fleet.started({ tasks: [endless] })
  await node.enqueue(endless, { id: "r" })
  await fleet.advance("1s")

  await node.runs.release("r", { reason: "stuck", by: "ada" })
  await fleet.advance("1s")

  const run = await node.runs.get("r")
  assert.deepEqual([run?.state, run?.attempt, run?.failures, run?.lost], ["running", 2, 0, 0])
  assert.equal(run?.attempts[0]?.outcome, "taken-away")
  assert.deepEqual([run?.reason, run?.by], ["stuck", "ada"])
})

test("the author and the reason of a cancel are stored with the run", async () => {
  await using fleet = new Fleet()
  const node = fleet.node()
  await node.enqueue("later", { id: "r" })

  const run = await node.runs.cancel("r", { by: "ada", reason: "wrong day" })

  assert.deepEqual([run.state, run.by, run.reason], ["cancelled", "ada", "wrong day"])
  assert.equal((await node.runs.get("r"))?.completedAt?.toISOString(), "2026-01-01T00:00:00.000Z")
})

test.each([
  [{ by: "bob", reason: "repaired" }, ["pending", "bob", "repaired"]],
  [{ by: "bob" }, ["pending", "bob", "Retried by an operator"]],
] as const)("the author and the reason of a retry replace those of the cancel: %j", async (because, kept) => {
  await using fleet = new Fleet()
  const node = fleet.node()
  await node.enqueue("later", { id: "r" })
  await node.runs.cancel("r", { by: "ada", reason: "wrong day" })

  const run = await node.runs.retry("r", because)

  assert.deepEqual([run.state, run.by, run.reason], kept)
})
