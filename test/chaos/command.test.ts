import assert from "node:assert/strict"
import { once } from "node:events"
import { describe, onTestFinished, test } from "vitest"
import { goneAfter, isAlive, pidIn } from "../support/processes.ts"
import { startWorker } from "./command-workers.ts"

/** Whatever becomes of the worker, its commands end. How soon they end is in `command.long.test.ts`. */

async function family(lines: readonly string[]): Promise<readonly number[]> {
  const pids = [await pidIn(lines, "guard"), await pidIn(lines, "child"), await pidIn(lines, "grandchild")]
  // What a failing test leaves behind must not outlive it.
  onTestFinished(() => {
    for (const pid of pids.filter(isAlive)) process.kill(pid, "SIGKILL")
  })
  return pids
}

describe("processes that ignore SIGTERM", () => {
  test("a worker killed with -9 leaves none of them behind", async () => {
    const { worker, lines } = startWorker("family")
    const pids = await family(lines)
    assert.deepEqual(pids.map(isAlive), [true, true, true])

    worker.kill("SIGKILL")

    await goneAfter(pids)
  })

  test("a worker that is stopped while they run leaves none of them behind", async () => {
    const { worker, lines } = startWorker("family", "stop")
    const pids = await family(lines)

    await once(worker, "exit")

    await goneAfter(pids)
  })

  test("a worker that exits without a word leaves none of them behind", async () => {
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
