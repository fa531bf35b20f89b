import assert from "node:assert/strict"
import { copyFileSync, statSync } from "node:fs"
import { sqlite } from "belfry/sqlite"
import { test } from "vitest"
import { aClaim, aLogLine, aRun, aSchedule } from "../../../src/store/laws/factories.ts"
import { countRuns, several } from "../../../src/store/laws/steps.ts"
import { anOpenStore, aPath, aStore, aStoreAndItsDatabase, integrityOf } from "./scratch.ts"

test("data is kept after the store was closed and opened again", async () => {
  const path = aPath()
  const first = await anOpenStore(path)
  await first.putSchedule(aSchedule({ id: "nightly", tags: ["a"] }), null)
  await first.enqueue([aRun({ id: "waiting" })])
  await first.appendLogs([aLogLine("waiting")])
  await first.close()

  const second = await anOpenStore(path)

  assert.equal((await second.findSchedules({ tag: "a" }, { orderBy: "id", after: null, limit: 2 })).length, 1)
  assert.equal((await second.claim(aClaim())).runs[0]?.id, "waiting")
  assert.equal((await second.readLogs({ runId: "waiting", after: null, limit: 5 })).length, 1)
})

test("after the last close all data is in the one file", async () => {
  const path = aPath()
  const [first, second] = [await anOpenStore(path), await anOpenStore(path)]
  await first.enqueue(several(100, () => aRun()))
  await first.close()

  await second.close()

  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  assert.equal(log?.size ?? 0, 0)
  const copy = `${path}.copy`
  copyFileSync(path, copy)
  assert.equal(await integrityOf(copy), "ok")
  assert.equal((await countRuns(await anOpenStore(copy))).pending, 100)
})

test.each([
  ["normal", 1],
  ["full", 2],
] as const)("durability %s is SQLite's synchronous %i, in a write-ahead log", async (durability, level) => {
  const { database } = await aStoreAndItsDatabase(aPath(), durability)

  const pragma = (name: string) => Object.values(database.prepare(`pragma ${name}`).get() as object)[0]
  assert.deepEqual(["synchronous", "journal_mode", "foreign_keys", "busy_timeout"].map(pragma), [
    level,
    "wal",
    1,
    50,
  ])
})

test("stores in memory work, and share no data", async () => {
  const [first, second] = [sqlite(":memory:"), sqlite({ path: ":memory:" })]

  await first.enqueue([aRun()])

  assert.equal((await first.claim(aClaim())).runs.length, 1)
  assert.equal((await countRuns(second)).pending, 0)
  await Promise.all([first.close(), second.close()])
})

test("a store opens with its first call", async () => {
  const store = aStore(aPath())

  assert.equal((await store.enqueue([aRun()]))[0]?.outcome, "created")
})

test("the write-ahead log stays below 64 MB during many writes", async () => {
  const path = aPath()
  const store = await anOpenStore(path)

  for (let batch = 0; batch < 30; batch++) {
    await store.enqueue(several(100, () => aRun({ payload: "x".repeat(20_000) })))
  }

  assert.ok(statSync(`${path}-wal`).size < 64 * 1024 * 1024)
})
