import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { test } from "vitest"

const TSX = fileURLToPath(import.meta.resolve("tsx/cli"))
const LOCK = new URL("../../src/lock.ts", import.meta.url).href

/** What a program prints, and how long it lives. */
async function run(program: string): Promise<{ printed: string; tookMs: number }> {
  const began = performance.now()
  const text = `(async () => {
    const { createLocks, memoryLocks } = await import(${JSON.stringify(LOCK)})
    const locks = createLocks(memoryLocks())
    ${program}
  })()`
  const { stdout } = await promisify(execFile)(process.execPath, [TSX, "--eval", text])
  return { printed: stdout.trim(), tookMs: performance.now() - began }
}

test("a lock that is held doesn't keep a process alive", async () => {
  const { printed, tookMs } = await run(`
    const lock = await locks.acquire("invoices", { ttl: "1h" })
    console.log(lock.fence)`)

  assert.equal(printed, "1")
  assert.ok(tookMs < 15_000, `it took ${tookMs} ms`)
})

test("one who waits for a lock does, and a lock that is lost says so, in real time", async () => {
  const { printed } = await run(`
    const first = await locks.acquire("invoices", { ttl: "300ms" })
    const second = await locks.acquire("invoices", { ttl: "1h", wait: "10s" })
    console.log(first.fence, second.fence, first.signal.reason.code)`)

  assert.equal(printed, "1 2 BELFRY_LOCK_LOST")
})

test("work that lasts longer than its ttl keeps the lock, in real time", async () => {
  const { printed } = await run(`
    const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
    const done = locks.using("invoices", { ttl: "300ms" }, async ({ signal }) => {
      await sleep(1_000)
      return signal.aborted
    })
    await sleep(700)
    console.log(await locks.tryAcquire("invoices"), await done)`)

  assert.equal(printed, "null false")
})
