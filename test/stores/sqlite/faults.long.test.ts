import assert from "node:assert/strict"
import { test } from "vitest"
import { aRun } from "../../../src/store/laws/factories.ts"
import { aDatabase, anOpenStore, aPath } from "./scratch.ts"

/** Each try blocks for 50 ms, and up to ten times longer on a busy machine with one core. */
const BLOCKED_MAX_MS = 500

test("while another program holds the lock for 2 s, the event loop is never blocked for 500 ms", async () => {
  const path = aPath()
  const store = await anOpenStore(path)
  const other = await aDatabase(path)
  other.exec("begin immediate")
  let longestMs = 0
  let last = performance.now()
  const ticking = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - last)
    last = performance.now()
  }, 1)
  setTimeout(() => other.exec("commit"), 2_000)

  const answers = await store.enqueue([aRun({ id: "patient" })])

  clearInterval(ticking)
  assert.deepEqual(answers, [{ outcome: "created", runId: "patient" }])
  assert.ok(longestMs < BLOCKED_MAX_MS, `the event loop was blocked for ${longestMs} ms`)
})
