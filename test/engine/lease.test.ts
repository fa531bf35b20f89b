import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask, type RunAborted, type RunEvent } from "../../src/index.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { aborted, Fleet, never, taking } from "../support/fleet.ts"

test("a run longer than many leases is performed once, by one worker", async () => {
  await using fleet = new Fleet()
  let starts = 0
  const task = defineTask({
    name: "task",
    lease: "3s",
    async run() {
      starts++
      await taking(fleet.clock, "10m")
    },
  })
  const node = await fleet.started({ tasks: [task] })
  await fleet.started({ tasks: [task] })
  const { runId } = await node.enqueue(task)

  await fleet.advance("11m")

  const run = await node.runs.get(runId)
  assert.deepEqual([starts, run?.state, run?.attempt], [1, "succeeded", 1])
})

test("a worker keeps a short lease while it also holds a long one", async () => {
  await using fleet = new Fleet()
  const performed: string[] = []
  const perform = async ({ run }: { run: { id: string; attempt: number } }) => {
    performed.push(`${run.id}#${run.attempt}`)
    await taking(fleet.clock, "1m")
  }
  const long = defineTask({ name: "long", lease: "10m", run: perform })
  const short = defineTask({ name: "short", lease: "1s", run: perform })
  const node = await fleet.started({ tasks: [long, short] })
  await fleet.started({ tasks: [long, short] })

  await node.enqueue(long, { id: "long" })
  await fleet.advance("100ms")
  await node.enqueue(short, { id: "short" })
  await fleet.advance("2m")

  assert.deepEqual(performed, ["long#1", "short#1"])
})

test("a worker keeps all its leases with three heartbeats per lease", async () => {
  await using fleet = new Fleet()
  const { store, count } = faultyStore(fleet.store)
  const task = defineTask({ name: "task", run: () => taking(fleet.clock, "5m") })
  const node = await fleet.started({ store, tasks: [task], lease: "30s", pollInterval: "1h" })
  for (let index = 0; index < 8; index++) await node.enqueue(task)
  const before = count("heartbeat")

  await fleet.advance("4m")

  const beats = count("heartbeat") - before
  assert.ok(beats >= 23 && beats <= 25, `${beats} heartbeats in 4 minutes`)
})

describe("a worker whose heartbeats fail", () => {
  async function cutOff() {
    const fleet = new Fleet()
    const events: string[] = []
    const steps: string[] = []
    const task = defineTask({
      name: "task",
      lease: "30s",
      async run({ run, signal }) {
        const at = () => fleet.clock.monotonic() / 1_000
        steps.push(`${at()} attempt ${run.attempt}`)
        if (run.attempt > 1) return "second"
        await aborted(signal)
        steps.push(`${at()} ${(signal.reason as RunAborted).why}`)
        return "first"
      },
    })
    const wire = faultyStore(fleet.store)
    const hooks = { run: (event: RunEvent) => void events.push(event.type) }
    const first = await fleet.started({ store: wire.store, tasks: [task], hooks })
    const { runId } = await first.enqueue(task)
    await fleet.advance("1s")
    await fleet.started({ tasks: [task] })
    return { fleet, wire, first, runId, steps, events }
  }

  test("a worker without heartbeats stops before its lease ends, and then another worker begins the next attempt", async () => {
    const { fleet, wire, first, runId, steps } = await cutOff()
    wire.breakDown("heartbeat", "claim")

    await fleet.advance("1m")

    const run = await first.runs.get(runId)
    assert.deepEqual(steps, ["0 attempt 1", "27 lease-lost", "30 attempt 2"])
    assert.deepEqual([run?.state, run?.details, run?.attempt], ["succeeded", "second", 2])
    assert.deepEqual(
      run?.attempts.map(({ outcome }) => outcome),
      ["unconfirmed", "succeeded"],
    )
    await fleet[Symbol.asyncDispose]()
  })

  test("a worker keeps its runs if heartbeats succeed again before the lease ends", async () => {
    const { fleet, wire, first, runId, steps } = await cutOff()
    wire.breakDown("heartbeat")
    await fleet.advance("20s")

    wire.mend()
    await fleet.advance("5m")

    assert.deepEqual(steps, ["0 attempt 1"])
    assert.equal((await first.runs.get(runId))?.state, "running")
    await fleet[Symbol.asyncDispose]()
  })

  test("a worker whose lease ended reports its late result as refused", async () => {
    const { fleet, wire, events } = await cutOff()
    wire.breakDown("heartbeat", "claim")

    await fleet.advance("1m")

    assert.deepEqual(events, ["started", "superseded"])
    await fleet[Symbol.asyncDispose]()
  })
})

test("a run whose worker died is taken over within 45 seconds", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "task", run: ({ run }) => (run.attempt === 1 ? never : "done") })
  const wire = faultyStore(fleet.store)
  const dying = await fleet.started({ store: wire.store, tasks: [task] })
  const { runId } = await dying.enqueue(task)
  await fleet.advance("5s")
  await fleet.started({ tasks: [task] })
  await fleet.advance("7s")

  wire.breakDown()
  await fleet.advance("45s")

  const run = await fleet.node().runs.get(runId)
  assert.deepEqual([run?.state, run?.attempt], ["succeeded", 2])
})

test("after three lost workers a run fails as lost and isn't given to a fourth", async () => {
  await using fleet = new Fleet()
  const attempts: number[] = []
  const events: string[] = []
  const task = defineTask({
    name: "killer",
    retry: { attempts: 10 },
    run({ run }) {
      attempts.push(run.attempt)
      return never
    },
  })
  await fleet.node().enqueue("killer", { id: "poison" })
  for (let worker = 0; worker < 3; worker++) {
    const wire = faultyStore(fleet.store)
    await fleet.started({ store: wire.store, tasks: [task] })
    await fleet.advance("1s")
    wire.breakDown()
    await fleet.advance("1m")
  }

  await fleet.started({ tasks: [task], hooks: { run: (event) => void events.push(event.type) } })
  await fleet.advance("1h")

  const run = await fleet.node().runs.get("poison")
  assert.deepEqual(attempts, [1, 2, 3])
  assert.deepEqual([run?.state, run?.reason, run?.failures], ["failed", "lost", 0])
  assert.deepEqual(
    run?.attempts.map(({ outcome }) => outcome),
    ["unconfirmed", "lost", "lost", "given-up"],
  )
  assert.match(run!.error!, /^Lost: 2 attempts .* Attempt 1 was not confirmed/)
  assert.deepEqual(events, ["lost"])
})

test("claims whose replies reached no worker don't count as lost attempts of a run", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "task", run: () => "done" })
  await fleet.node().enqueue("task", { id: "a" })
  const tasks = [{ name: "task", leaseMs: 1_000 }]
  for (let ghost = 1; ghost <= 5; ghost++) {
    await fleet.store.claim({ workerId: `ghost-${ghost}`, tasks, limit: 1 })
    await fleet.advance("1s")
  }

  await fleet.started({ tasks: [task] })
  await fleet.advance("1s")

  const run = (await fleet.node().runs.get("a"))!
  assert.deepEqual([run.state, run.attempt, run.lost], ["succeeded", 6, 0])
})

test("a second attempt doesn't begin before the store has confirmed it", async () => {
  await using fleet = new Fleet()
  const performed: number[] = []
  const task = defineTask({ name: "task", run: ({ run }) => void performed.push(run.attempt) })
  await fleet.node().enqueue("task", { id: "a" })
  await fleet.store.claim({ workerId: "ghost", tasks: [{ name: "task", leaseMs: 1_000 }], limit: 1 })
  await fleet.advance("1s")
  const wire = faultyStore(fleet.store)
  wire.breakDown("heartbeat")
  await fleet.started({ store: wire.store, tasks: [task] })
  await fleet.advance("20s")
  assert.deepEqual(performed, [])

  wire.mend()
  await fleet.advance("10s")

  assert.deepEqual(performed, [2])
})

test("a stopping worker releases claimed runs that didn't begin", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "task", run: () => "done" })
  await fleet.node().enqueue("task", { id: "a" })
  await fleet.store.claim({ workerId: "ghost", tasks: [{ name: "task", leaseMs: 1_000 }], limit: 1 })
  await fleet.advance("1s")
  const wire = faultyStore(fleet.store)
  wire.breakDown("heartbeat")
  const node = await fleet.started({ store: wire.store, tasks: [task] })
  await fleet.advance("1s")

  const stopped = node.stop({ timeout: "1s" })
  await fleet.advance("10s")
  await stopped

  const run = (await fleet.node().runs.get("a"))!
  assert.deepEqual([run.state, run.attempts.at(-1)?.outcome], ["pending", "released"])
})

test("a run released by an operator is aborted in its worker and begins its next attempt at once", async () => {
  await using fleet = new Fleet()
  let why: unknown
  const task = defineTask({
    name: "task",
    async run({ run, signal }) {
      if (run.attempt > 1) return "second"
      await aborted(signal)
      why = (signal.reason as RunAborted).why
      return "first"
    },
  })
  const node = await fleet.started({ tasks: [task] })
  const { runId } = await node.enqueue(task)
  await fleet.advance("1s")

  await node.runs.release(runId, { reason: "stuck" })
  await fleet.advance(1)

  const run = await node.runs.get(runId)
  assert.deepEqual([run?.state, run?.details, run?.attempt, run?.failures], ["succeeded", "second", 2, 0])
  assert.equal(run?.attempts[0]?.outcome, "taken-away")
  assert.equal(why, "lease-lost")
})
