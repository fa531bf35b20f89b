import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "vitest"
import { goneAfter, pidIn } from "../support/processes.ts"
import { folderOfTest, IGNORES_SIGTERM, LEFT_BEHIND, perform } from "./command-run.ts"

test("a command is stopped soon after its timeout", async () => {
  const { details } = await perform({ argv: ["sleep", "1000"], timeout: "300ms" }).ended

  assert.deepEqual([details["signal"], details["timedOut"]], ["SIGTERM", true])
  assert.ok(Number(details["durationMs"]) < 3_000, `${details["durationMs"]} ms`)
})

test("processes that ignore SIGTERM are gone soon after the grace period", async () => {
  const controller = new AbortController()
  const { ended, lines } = perform({ argv: IGNORES_SIGTERM }, { signal: controller.signal, grace: "500ms" })
  const pids = [await pidIn(lines, "child"), await pidIn(lines, "grandchild")]

  const abortedAt = performance.now()
  controller.abort(new Error("cancelled"))
  await assert.rejects(ended, /cancelled/)
  await goneAfter(pids)

  assert.ok(performance.now() - abortedAt < 5_000)
})

test("a process that left the group and keeps the output open delays the run by less than 3 s", async () => {
  const folder = folderOfTest()

  const { success, details } = await perform({ argv: LEFT_BEHIND, cwd: folder }).ended
  process.kill(Number(readFileSync(join(folder, "pid"), "utf8")), "SIGKILL")

  assert.equal(success, true)
  assert.ok(Number(details["durationMs"]) < 3_000, `${details["durationMs"]} ms`)
})
