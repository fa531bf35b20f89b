import assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { describe, onTestFinished, test } from "vitest"
import { goneAfter, isAlive, pidIn } from "../support/processes.ts"

/** F28 of the guarantees: whatever becomes of the worker, its commands end, and their output never fills its memory. */

const GRACE_MS = 1_000

function startWorker(...args: readonly string[]): { worker: ChildProcess; lines: string[] } {
  const program = join(import.meta.dirname, "command-worker.ts")
  const worker = spawn(process.execPath, ["--expose-gc", "--import", "tsx", program, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const lines: string[] = []
  createInterface({ input: worker.stdout! }).on("line", (line) => lines.push(line))
  return { worker, lines }
}

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

    assert.ok((await goneAfter(pids)) < GRACE_MS + 1_000)
  })

  test("a worker that is stopped while they run leaves none of them behind", async () => {
    const { worker, lines } = startWorker("family", "stop")
    const pids = await family(lines)

    await once(worker, "exit")

    assert.ok((await goneAfter(pids)) < GRACE_MS + 1_000)
  })

  test("a worker that exits without a word leaves none of them behind", async () => {
    const { worker, lines } = startWorker("family", "exit")
    const pids = await family(lines)

    await once(worker, "exit")

    assert.ok((await goneAfter(pids)) < GRACE_MS + 1_000)
  })

  test("a cancelled run leaves none of them behind", async () => {
    const { worker, lines } = startWorker("family", "cancel")
    const pids = await family(lines)

    await once(worker, "exit")

    assert.ok((await goneAfter(pids)) < GRACE_MS + 1_000)
  })
})

describe("200 MB of output", () => {
  for (const [name, kind] of [
    ["torrent", "in lines"],
    ["unbroken", "without a line break"],
  ] as const) {
    test(`${kind} make a worker grow by less than 20 MB`, async () => {
      const { worker, lines } = startWorker(name, "measure")

      await once(worker, "close")

      const { grownBy, details } = JSON.parse(lines[0]!) as {
        grownBy: number
        details: Record<string, unknown>
      }
      assert.deepEqual([details["stdoutBytes"], details["exitCode"]], [200_000_000, 0])
      assert.ok(grownBy < 20_000_000, `it grew by ${grownBy} bytes`)
    })
  }
})
