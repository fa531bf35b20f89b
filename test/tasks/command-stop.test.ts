import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { onTestFinished, test, vi } from "vitest"
import { goneAfter, isAlive, pidIn } from "../support/processes.ts"
import { folderOfTest, IGNORES_SIGTERM, LEFT_BEHIND, perform } from "./command-run.ts"

/** The reports of the guards in this file so far. */
const spawned = vi.hoisted(() => ({ reports: "" }))

vi.mock(import("node:child_process"), async (original) => {
  const actual = await original()
  const spawn = ((...given: Parameters<typeof actual.spawn>) => {
    const guard = actual.spawn(...given)
    guard.stdio[3]?.on("data", (chunk: Buffer) => {
      spawned.reports += chunk.toString("utf8")
    })
    return guard
  }) as typeof actual.spawn
  return { ...actual, spawn }
})

/** So long that a process that ended earlier was ended by SIGTERM. */
const LONG_GRACE = "10m"

test("a timeout stops the command with SIGTERM and fails the attempt", async () => {
  const { ended } = perform({ argv: ["sleep", "1000"], timeout: "300ms" }, { grace: LONG_GRACE })

  const { success, message, details } = await ended

  assert.equal(success, false)
  assert.match(message, /was stopped after its timeout of 300ms/)
  assert.deepEqual([details["signal"], details["timedOut"]], ["SIGTERM", true])
})

test("an abort stops the whole group, with children and grandchildren, and rejects with its reason", async () => {
  const controller = new AbortController()
  const { ended, lines } = perform(
    { argv: ["sh", "-c", "sh -c 'sleep 1000 & echo grandchild $!; wait' & echo child $!; wait"] },
    { signal: controller.signal, grace: LONG_GRACE },
  )
  const pids = [await pidIn(lines, "child"), await pidIn(lines, "grandchild")]

  controller.abort(new Error("cancelled by somebody"))

  await assert.rejects(ended, /cancelled by somebody/)
  assert.deepEqual(pids.map(isAlive), [false, false])
})

test("processes that ignore SIGTERM are killed after the grace period", async () => {
  const controller = new AbortController()
  const { ended, lines } = perform({ argv: IGNORES_SIGTERM }, { signal: controller.signal, grace: "200ms" })
  const pids = [await pidIn(lines, "child"), await pidIn(lines, "grandchild")]

  controller.abort(new Error("cancelled"))

  await assert.rejects(ended, /cancelled/)
  await goneAfter(pids)
})

test("a command that is aborted before its start rejects with the reason", async () => {
  const { ended } = perform(
    { argv: ["sleep", "1000"] },
    { signal: AbortSignal.abort(new Error("too late")), grace: "200ms" },
  )

  await assert.rejects(ended, /too late/)
})

test("if the guard is killed, its command is killed, too", async () => {
  const { ended, lines } = perform({ argv: ["sh", "-c", "echo child $$; echo guard $PPID; sleep 1000"] })
  const child = await pidIn(lines, "child")
  const guard = await pidIn(lines, "guard")
  // The command may write before the guard has reported the process id, which the worker needs to stop the command.
  while (!spawned.reports.includes(`"pid":${child}`)) await sleep(10)

  process.kill(guard, "SIGKILL")
  const { success } = await ended

  assert.equal(success, false)
  await goneAfter([child])
})

test("a process that left the group and keeps the output open doesn't keep the run open", async () => {
  const folder = folderOfTest()

  const { ended, lines } = perform({ argv: LEFT_BEHIND, cwd: folder })
  const { success, message } = await ended
  const child = Number(readFileSync(join(folder, "pid"), "utf8"))
  onTestFinished(() => void process.kill(child, "SIGKILL"))

  assert.equal(success, true, message)
  assert.deepEqual([lines, isAlive(child)], [["done"], true])
})
