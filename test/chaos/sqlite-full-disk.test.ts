import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { BelfryError } from "belfry"
import { sqlite } from "belfry/sqlite"
import type { Store } from "belfry/store"
import { afterAll, test } from "vitest"
import { succeed } from "../../src/core/run/run.ts"
import { aClaim, aRun, aSchedule } from "../../src/store/laws/factories.ts"
import { countRuns, created } from "../../src/store/laws/steps.ts"
import { loadDriver } from "../../src/stores/sqlite/driver.ts"

/**
 * Uses real disks of some megabytes, which only root may mount. Other users have the tests in `test/stores/sqlite`, which use
 * SQLite's own size limit instead. Continuous integration runs as root and fails without the disks.
 */

const folders: string[] = []

/** Null: the disk can't be mounted. */
function aDisk(size: string): string | null {
  const folder = mkdtempSync(join(tmpdir(), "belfry-disk-"))
  folders.push(folder)
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder]).status === 0
  return isMounted ? folder : null
}

const disk = aDisk("4m")
const largerDisk = aDisk("20m")
const isSkipped = disk === null && !process.env["CI"]

afterAll(() => {
  for (const folder of folders) {
    // Lazily, because a driver may keep a closed file open until its statements are garbage-collected.
    if (disk !== null) spawnSync("umount", ["-l", folder])
    rmSync(folder, { recursive: true, force: true })
  }
})

test.skipIf(isSkipped)("a full disk loses nothing, and work goes on when there is room again", async () => {
  assert.ok(disk, "a small disk is mounted")
  const path = join(disk, "belfry.db")
  const ballast = join(disk, "ballast")
  writeFileSync(ballast, Buffer.alloc(2 * 1024 * 1024))
  const store = sqlite(path)
  await store.open()
  await store.enqueue([aRun({ id: "first" })])
  const { runs } = await store.claim(aClaim())

  const stored = await enqueueUntilFull(store)
  const counted = await countRuns(store)
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
})

test.skipIf(isSkipped)(
  "the log doesn't fill a small disk, and the store works again after the disk was full",
  async () => {
    assert.ok(largerDisk, "a small disk is mounted")
    const store = sqlite(join(largerDisk, "belfry.db"))
    await store.open()
    const writeMuch = async () => {
      // Each edit replaces the schedule: 40 MB of log, but a file of some hundred KB.
      let schedule = await created(store, aSchedule({ payload: "x".repeat(40_000) }))
      for (let edits = 0; edits < 1_000; edits++) {
        const swap = await store.putSchedule(schedule, schedule.version)
        assert.ok(swap.outcome === "done")
        schedule = { ...schedule, version: swap.version }
      }
    }

    await writeMuch()
    const ballast = join(largerDisk, "ballast")
    assert.throws(() => writeFileSync(ballast, Buffer.alloc(20 * 1024 * 1024)), { code: "ENOSPC" })
    await enqueueUntilFull(store)
    rmSync(ballast)
    await writeMuch()

    await store.close()
  },
)

/** Returns how many runs were stored before the disk was full. */
async function enqueueUntilFull(store: Store): Promise<number> {
  for (let stored = 0; stored < 1_000; stored++) {
    try {
      await store.enqueue([aRun({ id: `r${stored}`, payload: "x".repeat(10_000) })])
    } catch (error) {
      assert.ok(error instanceof BelfryError && error.code === "BELFRY_STORE_FULL", String(error))
      return stored
    }
  }
  return assert.fail("the disk never became full")
}
