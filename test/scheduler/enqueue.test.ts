import assert from "node:assert/strict"
import { test } from "vitest"
import * as z from "zod"
import { createScheduler, defineTask, type EnqueueOptions, memory, silentLogger } from "../../src/index.ts"
import { collectedLog } from "../support/collected-log.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet } from "../support/fleet.ts"

const task = defineTask({ name: "send", payload: z.any(), run: () => "done" })

test("an enqueued run is stored with its options", async () => {
  await using fleet = new Fleet()
  const node = fleet.node({ tasks: [task] })

  const answer = await node.enqueue("send", {
    payload: { to: "ada" },
    id: "mail-1",
    priority: "low",
    by: "grace",
  })

  const run = (await node.runs.get("mail-1"))!
  assert.deepEqual(answer, { outcome: "created", runId: "mail-1" })
  assert.deepEqual([run.state, run.task, run.payload, run.priority], ["pending", "send", { to: "ada" }, -10])
  assert.deepEqual([run.triggeredBy, run.by, run.scheduleId], ["api", "grace", null])
})

test("a task name very similar to one of this process is logged once, and the run is stored", async () => {
  await using fleet = new Fleet()
  const { logger, lines } = collectedLog()
  const node = fleet.node({ tasks: [task], logger })

  for (const name of ["sent", "sent", "send", "unlike"]) await node.enqueue(name)
  await node.enqueueMany("sent", [{}, {}])

  assert.deepEqual(
    lines.map(({ level, message }) => [level, message]),
    [
      [
        "warn",
        'A run of the task "sent" was enqueued, which this process doesn\'t define. Did you mean "send"?',
      ],
    ],
  )
  assert.equal((await node.runs.list({ task: "sent" })).items.length, 4)
})

test("a process without tasks logs nothing about the tasks of its runs", async () => {
  await using fleet = new Fleet()
  const { logger, lines } = collectedLog()

  await fleet.node({ logger }).enqueue("sent")

  assert.deepEqual(lines, [])
})

test("without an id, each run gets a new id", async () => {
  await using fleet = new Fleet()
  const node = fleet.node({ tasks: [task] })

  const first = await node.enqueue(task)
  const second = await node.enqueue(task)

  assert.notEqual(first.runId, second.runId)
  assert.equal((await node.runs.list()).items.length, 2)
})

test("enqueuing the same id again has no effect, also after the run has finished", async () => {
  await using fleet = new Fleet()
  const node = await fleet.started({ tasks: [task] })
  await node.enqueue(task, { id: "once" })
  await fleet.advance("1s")

  assert.deepEqual(await node.enqueue(task, { id: "once" }), { outcome: "exists", runId: "once" })
  await fleet.advance("1s")
  assert.equal((await node.runs.get("once"))?.attempt, 1)
})

test("the id of an occurrence is refused, and the occurrence runs at its time", async () => {
  await using fleet = new Fleet()
  const performed: string[] = []
  const other = defineTask({ name: "other", run: ({ run }) => void performed.push(`other ${run.id}`) })
  const nightly = defineTask({ name: "nightly", run: ({ run }) => void performed.push(run.id) })
  const node = await fleet.started({ tasks: [other, nightly] })
  const { nextRunAt } = await node.schedules.create("once", { task: nightly, in: "1h" })
  const id = `once@${nextRunAt!.toISOString().replace(".000Z", "Z")}`

  for (const taken of [id, `${id}..2030-01-01T00:00:00Z`, `${id}~again`]) {
    await assert.rejects(node.enqueue(other, { id: taken }), {
      code: "BELFRY_RUN_INVALID",
      message: `enqueue: id is "${taken}", but ids that begin with "<schedule>@<instant>" are reserved for occurrences; use another id.`,
    })
  }
  await fleet.advance("2h")
  assert.deepEqual(performed, [id])
})

test("while an unfinished run has a key, a second run with the key is not stored; afterwards it is", async () => {
  await using fleet = new Fleet()
  const node = await fleet.started({ tasks: [task] })
  const options = { key: "digest:42", delay: "10m" } as const

  const first = await node.enqueue(task, options)
  const second = await node.enqueue(task, options)
  assert.deepEqual(second, { outcome: "held", runId: first.runId })

  await fleet.advance("11m")
  assert.equal((await node.enqueue(task, options)).outcome, "created")
})

test("a key of a user never equals the key of a schedule", async () => {
  await using fleet = new Fleet()
  const node = fleet.node({ tasks: [task] })
  await node.schedules.create("s", { task, every: "1h" })
  await node.enqueue(task, { key: "schedule:s" })

  assert.equal((await node.schedules.trigger("s")).outcome, "created")
})

test("a run starts after its delay, or at its time if that is not in the past", async () => {
  await using fleet = new Fleet()
  const node = fleet.node({ tasks: [task] })
  const dueAt = async (options: EnqueueOptions) => {
    const { runId } = await node.enqueue(task, options)
    return (await node.runs.get(runId))?.claimableAt?.toISOString().slice(11, 19)
  }

  assert.equal(await dueAt({}), "00:00:00")
  assert.equal(await dueAt({ delay: "90s" }), "00:01:30")
  assert.equal(await dueAt({ delay: 1_000 }), "00:00:01")
  assert.equal(await dueAt({ at: new Date("2026-01-01T05:00:00Z") }), "05:00:00")
  assert.equal(await dueAt({ at: "2026-01-01T05:00:00+02:00" }), "03:00:00")
  assert.equal(await dueAt({ at: "2020-01-01T05:00:00Z" }), "00:00:00")
})

const REFUSED: readonly (readonly [string, object, string, RegExp])[] = [
  ["an id with a space", { id: "a b" }, "BELFRY_RUN_INVALID", /id is "a b"; use 1 to 300/],
  ["an empty id", { id: "" }, "BELFRY_RUN_INVALID", /id is "";/],
  [
    "an invalid delay",
    { delay: "soon" },
    "BELFRY_DURATION_INVALID",
    /delay is "soon", which is not a duration/,
  ],
  [
    "a delay together with a time",
    { delay: 0, at: "2026-01-01T05:00:00Z" },
    "BELFRY_RUN_INVALID",
    /^enqueue: delay and at are both given; give only one of them\.$/,
  ],
  ["a negative delay", { delay: -1 }, "BELFRY_DURATION_INVALID", /delay is -1/],
  ["a time without an offset", { at: "2026-01-01T05:00:00" }, "BELFRY_INSTANT_INVALID", /with an offset/],
  ["a fractional priority", { priority: 1.5 }, "BELFRY_RUN_INVALID", /priority is 1.5; use a whole number/],
  [
    "a concurrency limit of 0",
    { concurrency: { key: "k", limit: 0 } },
    "BELFRY_RUN_INVALID",
    /concurrency.limit is 0/,
  ],
  ["no attempts", { retry: { attempts: 0 } }, "BELFRY_RUN_INVALID", /retry.attempts is 0/],
  ["an invalid timeout", { timeout: "x" }, "BELFRY_DURATION_INVALID", /timeout is "x"/],
]
for (const [name, options, code, message] of REFUSED) {
  test(`${name} is refused before anything is stored`, async () => {
    await using fleet = new Fleet()
    const node = fleet.node({ tasks: [task] })

    await assert.rejects(node.enqueue(task, options as EnqueueOptions), { code, message })

    assert.deepEqual((await node.runs.list()).items, [])
  })
}

test("a payload that JSON can't hold, or that is too large, is refused", async () => {
  await using fleet = new Fleet()
  const node = fleet.node()
  const circular: unknown[] = []
  circular.push(circular)
  let deep: unknown[] = []
  for (let depth = 0; depth < 20_000; depth++) deep = [deep]

  for (const payload of [circular, 10n, { f() {} }, Symbol("s"), () => 1, { n: Number.NaN }, deep])
    await assert.rejects(node.enqueue("send", { payload: payload }), { code: "BELFRY_PAYLOAD_INVALID" })
  await assert.rejects(node.enqueue("send", { payload: "x".repeat(1_048_577) }), {
    code: "BELFRY_PAYLOAD_TOO_LARGE",
  })

  const limit = "x".repeat(1_048_576 - 2)
  const { runId } = await node.enqueue("send", { payload: limit })
  assert.equal((await node.runs.get(runId))?.payload, limit)
})

test("an empty task name is refused", async () => {
  await using fleet = new Fleet()

  await assert.rejects(fleet.node().enqueue(""), { code: "BELFRY_RUN_INVALID", message: /task is ""/ })
})

test("enqueueMany returns the results in the order of the runs", async () => {
  await using fleet = new Fleet()
  const node = fleet.node({ tasks: [task] })
  await node.enqueue("send", { id: "there" })

  const answers = await node.enqueueMany("send", [
    { id: "a", payload: { to: "ada" } },
    { id: "there" },
    { key: "k", id: "b" },
    { key: "k", id: "c" },
  ])

  assert.deepEqual(answers, [
    { outcome: "created", runId: "a" },
    { outcome: "exists", runId: "there" },
    { outcome: "created", runId: "b" },
    { outcome: "held", runId: "b" },
  ])
  assert.deepEqual(await node.enqueueMany(task, []), [])
})

test("enqueueMany returns one result for each run, in order, also above the size of a batch", async () => {
  await using fleet = new Fleet()
  const node = fleet.node()
  const ids = Array.from({ length: 2_500 }, (_, index) => `r${index}`)

  const answers = await node.enqueueMany(
    "send",
    ids.map((id) => ({ id })),
  )

  assert.deepEqual(
    answers.map(({ runId }) => runId),
    ids,
  )
})

test("enqueueMany treats a hole of a sparse array as a run without options", async () => {
  await using fleet = new Fleet()
  const node = fleet.node()
  const runs: { id?: string }[] = []
  runs[1] = { id: "second" }

  const answers = await node.enqueueMany("send", runs)

  assert.deepEqual([answers.length, answers[0]!.outcome, answers[1]!.runId], [2, "created", "second"])
})

test("enqueueMany stores no run if one of them is invalid", async () => {
  await using fleet = new Fleet()
  const node = fleet.node({ tasks: [task] })

  await assert.rejects(node.enqueueMany("send", [{ id: "a" }, { id: "" }]), { code: "BELFRY_RUN_INVALID" })
  await assert.rejects(node.enqueueMany("send", "x" as never), { code: "BELFRY_RUN_INVALID" })

  assert.deepEqual(await fleet.runs(), [])
})

test("runs that are enqueued at the same time are sent in batches, and each call gets its result", async () => {
  await using fleet = new Fleet()
  const wire = faultyStore(fleet.store)
  const node = fleet.node({ store: wire.store })
  const ids = Array.from({ length: 2_500 }, (_, index) => `r${index}`)

  const answers = await Promise.all(ids.map((id) => node.enqueue("send", { id })))

  assert.deepEqual(
    answers.map(({ runId }) => runId),
    ids,
  )
  assert.ok(wire.count("enqueue") <= 4, `${wire.count("enqueue")} calls`)
})

test("if a batch can't be stored, each of its calls is rejected, and the next batch is stored", async () => {
  await using fleet = new Fleet()
  const wire = faultyStore(fleet.store)
  const node = fleet.node({ store: wire.store })
  await node.enqueue("send")
  wire.breakDown("enqueue")
  const refused = await Promise.allSettled(["a", "b"].map((id) => node.enqueue("send", { id })))
  wire.mend()

  assert.deepEqual(
    refused.map(({ status }) => status),
    ["rejected", "rejected"],
  )
  assert.equal((await node.enqueue("send", { id: "a" })).outcome, "created")
})

test("the result of enqueue has a wait method that is not enumerable", async () => {
  await using scheduler = createScheduler({ store: memory(), tasks: [doubling], logger: silentLogger })
  await scheduler.start()

  const enqueued = await scheduler.enqueue(doubling, { id: "a", payload: 21 })
  const run = await enqueued.wait({ timeout: "10s" })

  assert.deepEqual(enqueued, { outcome: "created", runId: "a" })
  assert.equal(run?.details?.doubled, 42)
  assert.equal((await scheduler.runs.wait(enqueued))?.id, "a")
  const [first] = await scheduler.enqueueMany(doubling, [{ payload: 1 }])
  assert.equal((await first!.wait())?.details?.doubled, 2)
})

const doubling = defineTask({
  name: "doubling",
  payload: z.number(),
  run: ({ payload }) => ({ doubled: payload * 2 }),
})
