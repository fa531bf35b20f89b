import assert from "node:assert/strict"
import { test, vi } from "vitest"
import { createScheduler, defineTask, memory, silentLogger } from "../../src/index.ts"
import { PATIENCE_MS } from "../support/patience.ts"
import { terminal } from "./support.ts"

test("schedule get labels the lateness, and a failure isn't explained by the retry of its run", async () => {
  const store = memory()
  const scheduler = createScheduler({
    store: { ...store, close: async () => undefined },
    logger: silentLogger,
    tasks: [
      defineTask({
        name: "report",
        retry: { attempts: 1 },
        run: () => Promise.reject(new Error("no paper")),
      }),
    ],
  })
  const { schedules, runs } = scheduler
  await schedules.create("nightly", { task: "report", every: "1h", startImmediately: true })
  await scheduler.start()
  const ended = async (attempts: number) => {
    const { runId } = (await schedules.occurrences("nightly")).items[0] ?? {}
    const run = runId === undefined ? null : await runs.get(runId)
    return run?.state === "failed" && run.attempts.length === attempts ? run : null
  }
  await vi.waitFor(async () => assert.ok(await ended(1)), { timeout: PATIENCE_MS })
  await runs.retry((await ended(1))!.id)
  await vi.waitFor(async () => assert.ok(await ended(2)), { timeout: PATIENCE_MS })
  const shell = terminal({ isTerminal: true, openStore: () => store })

  const { out } = await shell.run("schedule", "get", "nightly")
  await scheduler.stop()

  assert.match(out, /Catch-up +once \(up to 1m late counts as on time\)/)
  assert.match(out, /Last\n +SCHEDULED FOR +OUTCOME +.*LATE/)
  assert.match(out, /failed[\s\S]*no paper/)
  assert.doesNotMatch(out, /Retried by an operator/)
})
