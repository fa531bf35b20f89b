import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { BelfryError } from "belfry"
import { sqlite } from "belfry/sqlite"
import type { Store } from "belfry/store"
import { afterAll, test } from "vitest"
import { succeed } from "../../src/core/run.ts"
import { aClaim, aRun } from "../../src/store/laws/factories.ts"
import { loadDriver } from "../../src/stores/sqlite/driver.ts"

/**
 * A real disk of four megabytes, which only root may mount. Other users run the tests in `test/stores/sqlite`, where SQLite's own
 * limit takes its place; continuous integration is root and fails without the disk.
 */

const folder = mkdtempSync(join(tmpdir(), "belfry-disk-"))
const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", folder]).status === 0

afterAll(() => {
  // Lazily: a driver may keep the closed file open until its statements are collected.
  if (isMounted) spawnSync("umount", ["-l", folder])
  rmSync(folder, { recursive: true, force: true })
})

test.skipIf(!isMounted && !process.env["CI"])(
  "a disk that fills up loses nothing, and work goes on when there is room again",
  async () => {
    assert.ok(isMounted, "a small disk is mounted")
    const path = join(folder, "belfry.db")
    const ballast = join(folder, "ballast")
    writeFileSync(ballast, Buffer.alloc(2 * 1024 * 1024))
    const store = sqlite(path)
    await store.open()
    await store.enqueue([aRun({ id: "first" })])
    const { runs } = await store.claim(aClaim())

    const stored = await enqueueUntilFull(store)
    const counted = await store.countRuns({})
    rmSync(ballast)
    const answers = await store.transition([succeed(runs[0]!, { message: null, details: null })])

    assert.deepEqual([counted.pending, counted.running], [stored, 1])
    assert.deepEqual(answers, [{ outcome: "done" }])
    assert.equal((await store.claim(aClaim({ limit: 1_000 }))).runs.length, stored)
    await store.close()
    const database = (await loadDriver()).open(path)
    const [row] = database.prepare("pragma integrity_check").all() as [{ integrity_check: string }]
    database.close()
    assert.equal(row.integrity_check, "ok")
  },
)

/** How many were stored before the disk was full. */
async function enqueueUntilFull(store: Store): Promise<number> {
  for (let stored = 0; stored < 1_000; stored++) {
    try {
      await store.enqueue([aRun({ id: `r${stored}`, payload: "x".repeat(10_000) })])
    } catch (error) {
      assert.ok(error instanceof BelfryError && error.code === "BELFRY_STORE_FULL", String(error))
      return stored
    }
  }
  return assert.fail("the disk is full in the end")
}
