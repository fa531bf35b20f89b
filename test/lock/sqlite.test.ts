import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sqlite } from "belfry/sqlite"
import { afterEach, describe, test } from "vitest"
import { LOCK_LAWS, type LockBackend, type LockLab } from "../../src/lock.ts"
import { createSqliteLocks } from "../../src/stores/sqlite/locks.ts"
import { PATIENCE_MS } from "../support/patience.ts"
import { patientClock } from "../support/patient-clock.ts"
import { inAnotherProcess } from "./another-process.ts"

/** On a real file, in real time. Each peer is a connection of its own. */

const opened: LockBackend[] = []
const folders: string[] = []
let path = ""

const lab: LockLab = {
  openBackend() {
    const folder = mkdtempSync(join(tmpdir(), "belfry-locks-"))
    folders.push(folder)
    path = join(folder, "belfry.db")
    return open()
  },
  openPeer: open,
  pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

async function open(): Promise<LockBackend> {
  const backend = createSqliteLocks({ path, durability: "normal", lockDeadlineMs: PATIENCE_MS }, patientClock)
  opened.push(backend)
  await backend.open()
  return backend
}

afterEach(async () => {
  for (const backend of opened.splice(0)) await backend.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

for (const { number, name, cases } of LOCK_LAWS) {
  describe(`Law ${number}, ${name}, of locks in SQLite`, () => {
    for (const { title, prove } of cases) test(title, () => prove(lab))
  })
}

test("processes that count under a lock lose no count, and their fences rise", async () => {
  const backend = await lab.openBackend()
  const file = join(folders[0]!, "count")

  const printed = await Promise.all(["a", "b", "c"].map(() => inAnotherProcess("sqlite", path, file)))

  const turns = printed.flat().sort((a, b) => a.count - b.count)
  assert.deepEqual(
    turns.map(({ count }) => count),
    Array.from({ length: 60 }, (_, index) => index + 1),
  )
  for (const [index, { fence }] of turns.entries()) {
    assert.ok(index === 0 || fence > turns[index - 1]!.fence, `turn ${index}`)
  }
  assert.equal((await backend.acquire("count", "after-all", 1_000)).outcome, "acquired")
})

test("locks and a store share one file", async () => {
  const backend = await lab.openBackend()
  const store = sqlite(path)
  await store.open()

  const answer = await backend.acquire("invoices", "first", 1_000)
  await store.close()

  assert.equal(answer.outcome, "acquired")
})
