import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask, type TaskContext } from "../../src/index.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet, taking } from "../support/fleet.ts"

/** Performs one run of the task and returns the run and its log lines. */
async function performed(perform: (context: TaskContext<undefined>, fleet: Fleet) => unknown) {
  const fleet = new Fleet()
  const task = defineTask({ name: "task", retry: { attempts: 1 }, run: (context) => perform(context, fleet) })
  const node = await fleet.started({ tasks: [task] })
  const { runId } = await node.enqueue(task)
  await fleet.advance("1m")
  const run = (await node.runs.get(runId))!
  const lines = (await node.runs.logs(runId, { limit: 10_000 })).items
  await fleet[Symbol.asyncDispose]()
  return { run, lines }
}

test("the log of an unknown run is refused; that of a run without lines is empty", async () => {
  await using fleet = new Fleet()
  const node = fleet.node()
  const { runId } = await node.enqueue("task")

  await assert.rejects(async () => await node.runs.logs("nope"), {
    code: "BELFRY_RUN_NOT_FOUND",
    message: 'There is no run "nope".',
  })
  assert.deepEqual((await node.runs.logs(runId)).items, [])
})

describe("log", () => {
  test("log lines are stored with the run, in order, with level, fields, attempt and time", async () => {
    const { lines } = await performed(async ({ log }, fleet) => {
      log.debug("one")
      await taking(fleet.clock, "2s")
      log.info("two", { count: 2 })
      log.warn("three")
      log.error("four", { at: { user: 42 } })
    })

    assert.deepEqual(
      lines.map(({ number, level, message, fields }) => [number, level, message, fields]),
      [
        [1, "debug", "one", null],
        [2, "info", "two", { count: 2 }],
        [3, "warn", "three", null],
        [4, "error", "four", { at: { user: 42 } }],
      ],
    )
    assert.deepEqual(
      lines.map(({ at }) => at.toISOString().slice(17)),
      ["00.000Z", "02.000Z", "02.000Z", "02.000Z"],
    )
    assert.ok(lines.every(({ attempt }) => attempt === 1))
  })

  test("log lines can be read while the task is running", async () => {
    await using fleet = new Fleet()
    const task = defineTask({
      name: "task",
      async run({ log }) {
        log.info("begun")
        await taking(fleet.clock, "1h")
      },
    })
    const node = await fleet.started({ tasks: [task] })
    const { runId } = await node.enqueue(task)

    await fleet.advance("1s")

    assert.deepEqual(
      (await node.runs.logs(runId)).items.map(({ message }) => message),
      ["begun"],
    )
  })

  test("fields that can't be written as JSON are replaced by a note, and the run succeeds", async () => {
    const circular: Record<string, unknown> = {}
    circular["self"] = circular
    const { run, lines } = await performed(({ log }) => {
      log.info("circular", circular)
      log.info("bigint", { big: 10n })
      log.info("throwing", {
        get trap() {
          throw new Error("trap")
        },
      })
    })

    assert.equal(run.state, "succeeded")
    assert.deepEqual(
      lines.map(({ message, fields }) => [message, fields]),
      [
        ["circular", { unreadable: true }],
        ["bigint", { unreadable: true }],
        ["throwing", { unreadable: true }],
      ],
    )
  })

  test("a log line is cut at 64 KiB, and larger fields are replaced by a note", async () => {
    const { lines } = await performed(({ log }) => {
      log.info("x".repeat(100_000))
      log.info("fields", { text: "é".repeat(40_000) })
    })

    assert.ok(Buffer.byteLength(lines[0]!.message) <= 65_536)
    assert.ok(lines[0]!.message.endsWith("… (cut)"))
    assert.match(JSON.stringify(lines[1]!.fields), /notStored.*80011 bytes; at most 65536 are kept/)
  })

  test("NUL characters and lone surrogates in a log line are replaced, so every store can store it", async () => {
    const { lines } = await performed(({ log }) => log.info("a\u0000b\ud800c"))

    assert.equal(lines[0]?.message, "a\ufffdb\ufffdc")
  })

  test("the log of an attempt ends at 5 MiB with a note, and the run goes on", async () => {
    const { run, lines } = await performed(({ log }) => {
      for (let index = 0; index < 200; index++) log.info("x".repeat(60_000))
      return "done"
    })

    const bytes = lines.reduce((sum, { message }) => sum + Buffer.byteLength(message), 0)
    assert.equal(run.details, "done")
    assert.ok(bytes <= 5 * 1024 * 1024 + 200, `${bytes} bytes`)
    assert.equal(lines.length, 88)
    assert.match(lines.at(-1)!.message, /reached 5242880 bytes, with 100 for each line; the rest is not kept/)
  })

  test("a run succeeds even if its log lines can't be stored", async () => {
    await using fleet = new Fleet()
    const wire = faultyStore(fleet.store)
    wire.breakDown("appendLogs")
    const task = defineTask({ name: "task", run: ({ log }) => log.info("lost") })
    const node = await fleet.started({ store: wire.store, tasks: [task] })

    const { runId } = await node.enqueue(task)
    await fleet.advance("10s")

    assert.equal((await node.runs.get(runId))?.state, "succeeded")
  })

  test("a page of log lines begins after the given line", async () => {
    await using fleet = new Fleet()
    const task = defineTask({
      name: "task",
      run({ log }) {
        for (let index = 1; index <= 5; index++) log.info(`line ${index}`)
      },
    })
    const node = await fleet.started({ tasks: [task] })
    const { runId } = await node.enqueue(task)
    await fleet.advance("1s")

    const page = (await node.runs.logs(runId, { after: { attempt: 1, number: 2 }, limit: 2 })).items

    assert.deepEqual(
      page.map(({ message }) => message),
      ["line 3", "line 4"],
    )
  })
})

describe("progress", () => {
  test("progress is stored with the heartbeat and can be read while the task runs", async () => {
    await using fleet = new Fleet()
    const task = defineTask({
      name: "task",
      async run({ progress }) {
        progress(0.25, "a quarter")
        await taking(fleet.clock, "15s")
        progress(0.5)
        await taking(fleet.clock, "15s")
      },
    })
    const node = await fleet.started({ tasks: [task] })
    const { runId } = await node.enqueue(task)

    await fleet.advance("11s")
    assert.deepEqual((await node.runs.get(runId))?.progress, { fraction: 0.25, message: "a quarter" })
    await fleet.advance("6s")
    assert.deepEqual((await node.runs.get(runId))?.progress, { fraction: 0.5, message: null })
  })

  test("the message of progress is cut at 1 KiB", async () => {
    await using fleet = new Fleet()
    const task = defineTask({
      name: "task",
      async run({ progress }) {
        progress(1, "x".repeat(10_000_000))
        await taking(fleet.clock, "1m")
      },
    })
    const node = await fleet.started({ tasks: [task] })
    const { runId } = await node.enqueue(task)

    await fleet.advance("15s")

    const progress = (await node.runs.get(runId))?.progress
    assert.equal(progress?.fraction, 1)
    assert.ok(Buffer.byteLength(progress?.message ?? "") <= 1_024)
  })

  test("progress that is not a number fails the attempt with a message", async () => {
    const { run } = await performed(({ progress }) => progress(Number.NaN))

    assert.equal(run.state, "failed")
    assert.match(run.error!, /progress: fraction is NaN; use a number between 0 and 1/)
  })
})
