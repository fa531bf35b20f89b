import assert from "node:assert/strict"
import { once } from "node:events"
import { describe, test } from "vitest"
import { goneAfter, pidIn } from "../support/processes.ts"
import { startWorker } from "./command-workers.ts"

/** Limits of time and memory that a busy machine may exceed. */

const GRACE_MS = 1_000

test("a worker that is killed with -9 leaves no process behind for longer than the grace period", async () => {
  const { worker, lines } = startWorker("family")
  const pids = [await pidIn(lines, "guard"), await pidIn(lines, "child"), await pidIn(lines, "grandchild")]

  worker.kill("SIGKILL")

  assert.ok((await goneAfter(pids)) < GRACE_MS + 2_000)
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
