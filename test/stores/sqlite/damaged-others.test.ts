import assert from "node:assert/strict"
import { test } from "vitest"
import { aRun } from "../../../src/store/laws/factories.ts"
import { countRuns, enqueued } from "../../../src/store/laws/steps.ts"
import { aStoreAndItsDatabase } from "./scratch.ts"

test("the database refuses a lock with a fence above the largest safe integer", async () => {
  const { database } = await aStoreAndItsDatabase(":memory:")
  const insert = (fence: string) =>
    database.exec(`insert into belfry_locks (fence, name, token, expires_at) values (${fence}, 'n', 't', 1)`)

  for (const fence of ["9223372036854775807", "9007199254740992", "0"])
    assert.throws(() => insert(fence), /CHECK constraint failed/)
  insert("9007199254740991")
})

test("a run with an unknown state isn't counted", async () => {
  const { store, database } = await aStoreAndItsDatabase(":memory:")
  await enqueued(store, aRun())
  await enqueued(store, aRun({ id: "bad" }))
  database.exec("update belfry_runs set state = 'odd' where id = 'bad'")

  const counts = await countRuns(store)

  assert.deepEqual(counts, { pending: 1, running: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 })
})
