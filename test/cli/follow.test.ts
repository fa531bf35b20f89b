import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { test } from "vitest"
import { createScheduler, defineTask, memory, silentLogger } from "../../src/index.ts"
import type { Store } from "../../src/store/store.ts"
import { gate } from "../support/fleet.ts"
import { terminal } from "./support.ts"

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
