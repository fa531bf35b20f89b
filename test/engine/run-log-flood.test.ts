import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import type { LogLine, Store } from "../../src/store/store.ts"
import { aborted, Fleet, taking } from "../support/fleet.ts"

const FLOOD = 400_000
const BATCH = 200

/** A store that counts the log lines it gets without storing them. Each call takes 1 ms of virtual time. */
function countingStore(fleet: Fleet) {
  const sent = { calls: 0, lines: 0, most: 0, last: null as LogLine | null }
  const store: Store = {
    ...fleet.store,
    async appendLogs(lines) {
      sent.calls++
      sent.lines += lines.length
      sent.most = Math.max(sent.most, lines.length)
      sent.last = lines.at(-1) ?? null
      await taking(fleet.clock, "1ms")
    },
  }
  return { store, sent }
}

test("a flood of short log lines is cut at a number of lines, ends with a note, and is sent in full batches", async () => {
  await using fleet = new Fleet()
  const { store, sent } = countingStore(fleet)
  const noisy = defineTask({
    name: "noisy",
    run({ log }) {
      for (let line = 0; line < FLOOD; line++) log.info("x")
    },
  })
  const node = await fleet.started({ store, tasks: [noisy] })

  const { runId } = await node.enqueue(noisy)
  await fleet.advance("10s")

  assert.equal((await node.runs.get(runId))?.state, "succeeded")
  assert.equal(sent.lines, Math.floor((5 * 1024 * 1024) / 101) + 1)
  assert.match(sent.last!.message, /reached 5242880 bytes, with 100 for each line; the rest is not kept/)
  assert.deepEqual(
    [sent.calls, sent.most, sent.last!.number],
    [Math.ceil(sent.lines / BATCH), BATCH, sent.lines],
  )
})

test("a flood of log lines lets timers run after each batch, even if the store answers at once", async () => {
  await using fleet = new Fleet()
  let sent = 0
  let sentBeforeTimer = 0
  const store: Store = {
    ...fleet.store,
    async appendLogs(lines) {
      sent += lines.length
    },
  }
  const noisy = defineTask({
    name: "noisy",
    async run({ log, signal }) {
      fleet.clock.setTimer(0, () => {
        sentBeforeTimer = sent
      })
      for (let line = 0; line < 10 * BATCH; line++) log.info("x")
      await aborted(signal)
    },
  })
  const node = await fleet.started({ store, tasks: [noisy] })

  await node.enqueue(noisy)
  await fleet.advance("1s")

  assert.deepEqual([sentBeforeTimer, sent], [BATCH, 10 * BATCH])
})

test("while a flood of log lines is stored, a cancel reaches its task and other runs keep their leases", async () => {
  await using fleet = new Fleet()
  const { store, sent } = countingStore(fleet)
  let sentAtAbort = 0
  const noisy = defineTask({
    name: "noisy",
    async run({ log, signal }) {
      for (let line = 0; line < FLOOD; line++) log.info("x")
      await aborted(signal)
      sentAtAbort = sent.lines
    },
  })
  const other = defineTask({ name: "other", run: () => taking(fleet.clock, "5s") })
  const node = await fleet.started({ store, tasks: [noisy, other], lease: "1s" })
  await node.enqueue(other, { id: "other" })
  await node.enqueue(noisy, { id: "noisy" })
  await fleet.advance(10)

  await node.runs.cancel("noisy")
  await fleet.advance("10s")

  assert.ok(sentAtAbort > 0 && sentAtAbort < sent.lines, `${sentAtAbort} of ${sent.lines} lines`)
  const run = await node.runs.get("other")
  assert.deepEqual([run?.state, run?.attempt], ["succeeded", 1])
})
