import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { test } from "vitest"
import { createScheduler, defineTask, memory, silentLogger } from "../../src/index.ts"
import type { Store } from "../../src/store/store.ts"
import { gate } from "../support/fleet.ts"
import { type Terminal, terminal } from "./support.ts"

test("the last lines of a run that ends between two reads of its log are printed", async () => {
  const { promise: isWatched, open: end } = gate()
  const task = defineTask({
    name: "task",
    async run({ log }) {
      await isWatched
      log.info("the last line")
    },
  })
  const store: Store = { ...memory(), close: async () => undefined }
  const scheduler = createScheduler({ store, tasks: [task], logger: silentLogger })
  await scheduler.start()
  const { runId } = await scheduler.enqueue(task)
  // The run ends after the first read of its log, and before any other read.
  let isFirst = true
  const watched: Store = {
    ...store,
    async readLogs(page) {
      const lines = await store.readLogs(page)
      if (isFirst) {
        isFirst = false
        end()
        while ((await scheduler.runs.get(runId))!.state !== "succeeded") await sleep(5)
      }
      return lines
    },
  }

  const { out } = await terminal({ openStore: () => watched }).run("run", "watch", runId)
  await scheduler.stop()

  assert.match(out, /the last line\n✓ succeeded/)
})

/** A terminal on a store with the pending run "r", and how often the store's hints were listened for. */
async function withPendingRun(): Promise<{ shell: Terminal; store: Store; listened: () => number }> {
  const store: Store = { ...memory(), close: async () => undefined }
  await createScheduler({ store, logger: silentLogger }).enqueue("nobody", { id: "r" })
  let count = 0
  const listen: Store["listen"] = (onHint) => {
    count += 1
    return store.listen(onHint)
  }
  return { shell: terminal({ openStore: () => ({ ...store, listen }) }), store, listened: () => count }
}

test.each([
  ["run", "wait", "r"],
  ["run", "watch", "r"],
])("%s %s listens for the hint that the run has ended, and gives up at --timeout", async (...argv) => {
  const { shell, listened } = await withPendingRun()

  const { code, err } = await shell.run(...argv, "--timeout", "200ms")

  assert.equal(code, 124)
  assert.match(err, /Not finished: r\. The run continues\./)
  assert.equal(listened(), 1)
})

test("run wait with several runs exits with the worst result, and prints the runs in the given order", async () => {
  const { shell, store } = await withPendingRun()
  const client = createScheduler({ store, logger: silentLogger })
  await client.enqueue("nobody", { id: "s" })
  const waiting = shell.run("run", "wait", "r", "s", "--json")

  await client.runs.cancel("s")
  await client.runs.cancel("r")

  const { code, out } = await waiting
  assert.equal(code, 9)
  assert.deepEqual(
    (JSON.parse(out) as { id: string }[]).map(({ id }) => id),
    ["r", "s"],
  )
})

test("Ctrl-C ends run wait at once and names the runs that have not finished", async () => {
  const { shell } = await withPendingRun()
  const waiting = shell.run("run", "watch", "r")
  await shell.shows(/pending/)

  shell.signal("SIGINT")

  const { code, err } = await waiting
  assert.equal(code, 130)
  assert.match(err, /Not finished: r\./)
})
