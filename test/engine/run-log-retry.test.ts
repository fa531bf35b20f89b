import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { RunLog } from "../../src/engine/run-log.ts"
import { defineTask } from "../../src/index.ts"
import { aRun } from "../../src/store/laws/factories.ts"
import type { Store } from "../../src/store/store.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet, taking } from "../support/fleet.ts"

/** The log of the first attempt of a stored run, on a store whose operations can be made to fail. */
async function aLog(wrap: (store: Store) => Store = (store) => store) {
  const fleet = new Fleet()
  const wire = faultyStore(wrap(fleet.store))
  await fleet.store.enqueue([aRun({ id: "r" })])
  const log = new RunLog({ store: wire.store, clock: fleet.clock, runId: "r", attempt: 1 })
  const stored = async () => {
    const lines = await fleet.store.readLogs({ runId: "r", after: null, limit: 10_000 })
    return lines.map(({ number, message }) => `${number} ${message}`)
  }
  return { fleet, wire, log, stored }
}

describe("a log during an outage of the store", () => {
  test("lines that couldn't be stored are sent with the next line, in order", async () => {
    const { fleet, wire, log, stored } = await aLog()
    wire.breakDown("appendLogs")
    log.info("one")
    await fleet.advance("600ms")
    wire.mend()

    log.info("two")
    await fleet.advance("2s")

    assert.deepEqual(await stored(), ["1 one", "2 two"])
    assert.equal(wire.count("appendLogs"), 2)
  })

  test("a failed send is repeated without a further line, and a line keeps the time at which it was written", async () => {
    const { fleet, wire, log, stored } = await aLog()
    const writtenAt = fleet.clock.now()
    wire.breakDown("appendLogs")
    log.info("one")
    await fleet.advance("5s")
    wire.mend()

    await fleet.advance("10s")

    assert.deepEqual(await stored(), ["1 one"])
    const [line] = await fleet.store.readLogs({ runId: "r", after: null, limit: 1 })
    assert.equal(line?.at, writtenAt)
  })

  test("a log stops sending after eight tries and sends again with the next line", async () => {
    const { fleet, wire, log, stored } = await aLog()
    wire.breakDown("appendLogs")
    log.info("one")
    await fleet.advance("1h")
    const tries = wire.count("appendLogs")
    wire.mend()
    await fleet.advance("1h")
    const silent = await stored()

    log.info("two")
    await fleet.advance("5m")

    assert.deepEqual([tries, silent], [8, []])
    assert.deepEqual(await stored(), ["1 one", "2 two"])
  })

  test("a line is stored once if only the reply was lost", async () => {
    const { fleet, wire, log, stored } = await aLog()
    wire.loseReplies("appendLogs")
    log.info("one")
    log.info("two")
    await fleet.advance("600ms")
    wire.mend()

    await fleet.until(log.flush())

    assert.deepEqual(await stored(), ["1 one", "2 two"])
  })

  test("the last flush tries three times within 500 ms, then gives up and leaves no timer", async () => {
    const { fleet, wire, log, stored } = await aLog()
    wire.breakDown("appendLogs")
    log.info("lost")
    const before = fleet.clock.now()

    await fleet.until(log.flush())

    assert.deepEqual([wire.count("appendLogs"), fleet.clock.now() - before], [3, 500])
    wire.mend()
    await fleet.advance("1h")
    assert.deepEqual([await stored(), wire.count("appendLogs")], [[], 3])
  })

  test("the last flush stores all lines if one of its tries succeeds", async () => {
    const { fleet, wire, log, stored } = await aLog()
    wire.breakDown("appendLogs")
    for (let index = 1; index <= 450; index++) log.info("line")
    const end = log.flush()
    await fleet.advance("300ms")
    wire.mend()

    await fleet.until(end)

    assert.equal((await stored()).length, 450)
  })

  test("the last flush delays the end of a run by at most two seconds if the store doesn't answer", async () => {
    const { fleet, log } = await aLog((store) => ({ ...store, appendLogs: () => new Promise(() => {}) }))
    log.info("never answered")
    const before = fleet.clock.now()

    await fleet.until(log.flush())

    assert.equal(fleet.clock.now() - before, 2_000)
  })
})

test("a log sends its lines in batches of 200", async () => {
  const sizes: number[] = []
  const { fleet, log, stored } = await aLog((store) => ({
    ...store,
    appendLogs(lines) {
      sizes.push(lines.length)
      return store.appendLogs(lines)
    },
  }))

  for (let index = 1; index <= 1_001; index++) log.info("line")
  await fleet.until(log.flush())

  assert.deepEqual(sizes, [200, 200, 200, 200, 200, 1])
  assert.equal((await stored()).length, 1_001)
})

test("each attempt numbers its own lines, and the pages of a run's log contain the lines of all attempts", async () => {
  await using fleet = new Fleet()
  const task = defineTask({
    name: "task",
    retry: { attempts: 2 },
    async run({ log, run }) {
      log.info(`first of ${run.attempt}`)
      await taking(fleet.clock, "1s")
      log.info(`second of ${run.attempt}`)
      if (run.attempt === 1) throw new Error("once more")
    },
  })
  const node = await fleet.started({ tasks: [task] })
  const { runId } = await node.enqueue(task)
  await fleet.advance("10m")

  const seen = (await node.runs.logs(runId, { limit: 3 })).items
  const rest = (await node.runs.logs(runId, { after: seen[2]!, limit: 3 })).items

  assert.deepEqual(
    [...seen, ...rest].map(({ attempt, number, message }) => [attempt, number, message]),
    [
      [1, 1, "first of 1"],
      [1, 2, "second of 1"],
      [2, 1, "first of 2"],
      [2, 2, "second of 2"],
    ],
  )
})
