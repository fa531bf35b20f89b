import assert from "node:assert/strict"
import { once } from "node:events"
import { describe, onTestFinished, test } from "vitest"
import { goneAfter, isAlive, pidIn } from "../support/processes.ts"
import { startWorker } from "./command-workers.ts"

/** The commands of a worker end, however the worker ends. `command.long.test.ts` tests how soon. */

async function family(lines: readonly string[]): Promise<readonly number[]> {
  const pids = [await pidIn(lines, "guard"), await pidIn(lines, "child"), await pidIn(lines, "grandchild")]
  // A failing test must leave no processes behind.
  onTestFinished(() => {
    for (const pid of pids.filter(isAlive)) process.kill(pid, "SIGKILL")
  })
  return pids
}

describe("processes that ignore SIGTERM", () => {
  test("a worker that is killed with -9 leaves none of them behind", async () => {
    const { worker, lines } = startWorker("family")
    const pids = await family(lines)
    assert.deepEqual(pids.map(isAlive), [true, true, true])

    worker.kill("SIGKILL")

    await goneAfter(pids)
  })

  test("a worker that is stopped during their run leaves none of them behind", async () => {
    const { worker, lines } = startWorker("family", "stop")
    const pids = await family(lines)

    await once(worker, "exit")

    await goneAfter(pids)
  })

  test("a worker that calls process.exit leaves none of them behind", async () => {
    const { worker, lines } = startWorker("family", "exit")
    const pids = await family(lines)

    await once(worker, "exit")

    await goneAfter(pids)
  })

  test("a cancelled run leaves none of them behind", async () => {
    const { worker, lines } = startWorker("family", "cancel")
    const pids = await family(lines)

    await once(worker, "exit")

    await goneAfter(pids)
  })
})
