import assert from "node:assert/strict"
import { test } from "vitest"
import { aRun } from "../../../src/store/laws/factories.ts"
import { aDatabase, anOpenStore, aPath } from "./scratch.ts"

/** Each try blocks for 50 ms; a machine with one busy core may make ten times that of it. */
const BLOCKED_MAX_MS = 500

test("a lock that another program keeps for seconds never blocks the event loop for half a second", async () => {
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
  assert.ok(longestMs < BLOCKED_MAX_MS, `the event loop stood still for ${longestMs} ms`)
})
