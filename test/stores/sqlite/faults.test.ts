import assert from "node:assert/strict"
import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "vitest"
import { aClaim, aLogLine, aPlan, aRun, aSchedule } from "../../../src/store/laws/factories.ts"
import { countRuns, created, several } from "../../../src/store/laws/steps.ts"
import { assertLocal } from "../../../src/stores/sqlite/file-system.ts"
import { advance, aVirtualClock } from "../../lock/lab.ts"
import { startProgram } from "../../support/child-programs.ts"
import {
  aDatabase,
  anOpenStore,
  aPath,
  aStore,
  aStoreAndItsDatabase,
  integrityOf,
  rejectsWith,
  until,
} from "./scratch.ts"

test("a file that isn't a database is refused", async () => {
  const path = aPath()
  writeFileSync(path, "Dear diary, ".repeat(1_000))

  await rejectsWith("BELFRY_STORE_UNFIT", aStore(path).open(), /is not an SQLite database/)
})

test("a damaged file is reported as damaged", async () => {
  const path = aPath()
  const store = await anOpenStore(path)
  await store.enqueue(several(500, () => aRun({ payload: "x".repeat(500) })))
  await store.close()
  const file = await import("node:fs/promises").then(({ open }) => open(path, "r+"))
  const { size } = await file.stat()
  for (let at = 8_192; at < size; at += 4_096) await file.write(Buffer.alloc(2_000, 0xab), 0, 2_000, at)
  await file.close()

  const broken = aStore(path)
  await rejectsWith(
    "BELFRY_STORE_UNFIT",
    (async () => {
      await broken.claim(aClaim())
      await countRuns(broken)
      await broken.findRuns({}, { orderBy: "createdAt", after: null, limit: 500 })
    })(),
    /is damaged/,
  )
})

test("the error for a missing folder names the folder", async () => {
  const path = join(dirname(aPath()), "nowhere", "belfry.db")

  await rejectsWith("BELFRY_STORE_UNAVAILABLE", aStore(path).open(), /The folder .*nowhere doesn't exist/)
})

test("after a failed open, the next call opens the file", async () => {
  const path = aPath()
  writeFileSync(path, "Not a database. ".repeat(1_000))
  const store = aStore(path)
  await assert.rejects(store.open())
  rmSync(path)

  await store.open()

  assert.deepEqual(await store.findWorkers({ afterId: null, limit: 1 }), [])
})

test("a file that this user can't write to is reported as read-only", async () => {
  const path = aPath()
  await (await anOpenStore(path)).close()
  chmodSync(path, 0o444)
  chmodSync(dirname(path), 0o555)

  if (process.getuid?.() !== 0) {
    await rejectsWith(
      "BELFRY_STORE_READ_ONLY",
      aStore(path).open(),
      /can't be written to|must both be writable/,
    )
    return chmodSync(dirname(path), 0o755)
  }
  // Root can write to every file, so a program of another user tries.
  const { lines, ended } = startProgram(new URL("open-as-nobody.ts", import.meta.url), [path])
  assert.equal(await ended, 0)
  assert.deepEqual(lines, ["BELFRY_STORE_READ_ONLY"])
})

test("a write without disk space changes nothing, and succeeds when there is space again", async () => {
  const path = aPath()
  const { store, database } = await aStoreAndItsDatabase(path)
  const schedule = await created(store, aSchedule({ id: "nightly" }))
  // SQLite's limit for one connection: it works like a full disk, on every machine.
  database.exec("pragma max_page_count = 100")
  const big = () => aRun({ payload: "x".repeat(20_000) })

  const runs = several(100, big)
  await rejectsWith("BELFRY_STORE_FULL", store.enqueue(runs), /no room to write/)
  const plan = aPlan(schedule, { progress: { ...aPlan(schedule).progress!, firedCount: 9 }, runs })
  await rejectsWith("BELFRY_STORE_FULL", store.fire([plan]), /no room to write/)

  assert.deepEqual(await countRuns(store), { ...NONE })
  assert.equal((await store.findSchedules({}, { orderBy: "id", after: null, limit: 1 }))[0]?.runCount, 0)
  database.exec("pragma max_page_count = 1000000")
  assert.deepEqual(await store.fire([plan]), [{ outcome: "done", created: runs.map(({ id }) => id) }])
  await store.close()
  assert.equal(await integrityOf(path), "ok")
})

test("while another program holds the lock, a timer waits and the event loop goes on", async () => {
  const path = aPath()
  const clock = aVirtualClock()
  const store = await anOpenStore(path, { clock })
  const other = await aDatabase(path)
  other.exec("begin immediate")
  const answers = store.enqueue([aRun({ id: "patient" })])

  for (let tries = 0; tries < 3; tries++) {
    await until(() => clock.timeline.nextAt !== null, "a timer is set for the next try")
    if (tries === 2) other.exec("commit")
    clock.timeline.step(Number.POSITIVE_INFINITY)
  }

  assert.deepEqual(await answers, [{ outcome: "created", runId: "patient" }])
  assert.equal(clock.timeline.nextAt, null)
})

test("a write throws if another program holds the lock for longer than the deadline; reads go on", async () => {
  const path = aPath()
  await anOpenStore(path)
  const store = aStore(path, { lockDeadlineMs: 200 })
  const other = await aDatabase(path)
  other.exec("begin immediate")

  await rejectsWith("BELFRY_STORE_UNAVAILABLE", store.enqueue([aRun()]), /kept .* locked for too long/)

  assert.equal((await countRuns(store)).pending, 0)
  other.exec("commit")
  assert.equal((await store.enqueue([aRun()]))[0]?.outcome, "created")
})

test("a call that waits for a lock throws when the store is closed", async () => {
  const path = aPath()
  const clock = aVirtualClock()
  const store = await anOpenStore(path, { clock })
  const other = await aDatabase(path)
  other.exec("begin immediate")

  const waiting = rejectsWith("BELFRY_STORE_CLOSED", store.appendLogs([aLogLine("r")]), /was closed/)
  await until(() => clock.timeline.nextAt !== null, "it waits for its next try")
  await store.close()
  clock.timeline.step(Number.POSITIVE_INFINITY)

  await waiting
})

test("a call throws after the file was deleted or replaced", async () => {
  const path = aPath()
  const clock = aVirtualClock()
  const store = await anOpenStore(path, { clock })
  await store.now()
  renameSync(path, `${path}.old`)

  // The path is checked once a second, not at every call.
  await advance(clock, 1_000)

  await rejectsWith("BELFRY_STORE_UNFIT", store.now(), /was deleted or replaced/)
})

test.each([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [-11317950, "CIFS"],
  [0xfe534d42, "SMB2"],
])("a file system of kind %i is refused as %s", (type, name) => {
  const host = { platform: "linux", fileSystemOf: () => type }

  assert.throws(
    () => assertLocal("/mnt/share/belfry.db", host),
    new RegExp(`network file system \\(${name}\\)`),
  )
})

test.each([
  ["linux", 0xef53],
  ["linux", 0x01021994],
  ["linux", 0x65735546],
  ["darwin", 0x6969],
])("on %s a file system of kind %i is not refused", (platform, type) => {
  assertLocal("/var/lib/belfry.db", { platform, fileSystemOf: () => type })
})

const NONE = { pending: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }
