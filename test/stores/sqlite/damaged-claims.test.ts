import assert from "node:assert/strict"
import { aClaim, aRun, type Run, type Store } from "belfry/store"
import { describe, test } from "vitest"
import { succeed } from "../../../src/core/run/run.ts"
import { aPage, enqueued, idsOf, runById } from "../../../src/store/laws/steps.ts"
import { aStoreAndItsDatabase } from "./scratch.ts"

/** Due rows that were written by SQL directly, without our checks. */

async function claimedBy(store: Store, limit = 10): Promise<readonly Run[]> {
  return (await store.claim(aClaim({ limit }))).runs
}

describe("a finished run that is due", () => {
  async function finishedAndDue() {
    const { store, database } = await aStoreAndItsDatabase(":memory:")
    const bad = await enqueued(store, aRun({ liveKey: "live" }))
    await store.transition((await claimedBy(store)).map((run) => succeed(run, { message: "m", details: 1 })))
    const before = await runById(store, bad.id)
    database.exec(`update belfry_runs set claimable_at = 0 where id = '${bad.id}'`)
    return { store, before, database }
  }

  test("is not given, and is unchanged", async () => {
    const { store, before } = await finishedAndDue()

    assert.deepEqual(await claimedBy(store), [])

    assert.deepEqual(await runById(store, before.id), before)
  })

  test("doesn't keep other runs from being given, even with a limit of 1", async () => {
    const { store } = await finishedAndDue()
    const next = await enqueued(store, aRun({ liveKey: "live" }))

    assert.deepEqual(idsOf(await claimedBy(store, 1)), [next.id])
  })

  test("keeps its state and completion if it is unreadable, too", async () => {
    const { store, before, database } = await finishedAndDue()
    database.exec(`update belfry_runs set payload = 'x' where id = '${before.id}'`)

    assert.deepEqual(await claimedBy(store), [])

    const { state, reason, completedAt } = await runById(store, before.id)
    assert.deepEqual(
      { state, reason, completedAt },
      { ...{ state: "succeeded", reason: null }, completedAt: before.completedAt },
    )
  })
})

describe("a run that can't be changed", () => {
  // Some drivers stop reading at a NUL (others return the whole id), and invalid UTF-8 is read as U+FFFD. Then the id that was
  // read doesn't find its row.
  test.each([
    ["a NUL, and its payload can't be read,", "cast(x'610062' as text)", "'x'"],
    ["invalid UTF-8", "cast(x'61ff' as text)", "'{}'"],
    ["invalid UTF-8, and its payload can't be read,", "cast(x'61ff' as text)", "'x'"],
  ])("because its id has %s is failed, and the others are given once", async (_, id, payload) => {
    const { store, database } = await aStoreAndItsDatabase(":memory:")
    const bad = await enqueued(store, aRun())
    const good = await enqueued(store, aRun())
    database.exec(`update belfry_runs set id = ${id}, payload = ${payload} where id = '${bad.id}'`)

    assert.deepEqual(idsOf(await claimedBy(store)), [good.id])

    const [failed] = await store.findRuns({ states: ["failed"] }, aPage())
    assert.equal(failed?.reason, "unreadable")
    assert.match(failed?.error ?? "", /^This record can't be read: /)
  })

  test("because of a constraint is failed, and the others are given", async () => {
    const { store, database } = await aStoreAndItsDatabase(":memory:")
    const [bad, good] = [await enqueued(store, aRun()), await enqueued(store, aRun())]
    database.exec(`
      create trigger not_this_one before update on belfry_runs
      when new.id = '${bad.id}' and new.state = 'running'
      begin select raise(abort, 'not this one'); end`)

    assert.deepEqual(idsOf(await claimedBy(store, 1)), [good.id])

    const { state, reason, error } = await runById(store, bad.id)
    assert.deepEqual({ state, reason }, { state: "failed", reason: "unreadable" })
    assert.match(error ?? "", /not this one/)
  })
})
