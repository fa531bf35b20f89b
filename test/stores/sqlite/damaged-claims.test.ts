import assert from "node:assert/strict"
import { aClaim, aRun, type Run, type Store } from "belfry/store"
import { describe, test } from "vitest"
import { succeed } from "../../../src/core/run.ts"
import { aPage, enqueued, idsOf, runById } from "../../../src/store/laws/steps.ts"
import { aStoreAndItsDatabase } from "./scratch.ts"

/** Rows that a claim comes upon, and that somebody changed past the store's door. */

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

  test("is not given, and rests again as it was", async () => {
    const { store, before } = await finishedAndDue()

    assert.deepEqual(await claimedBy(store), [])

    assert.deepEqual(await runById(store, before.id), before)
  })

  test("stands in nobody's way, even where only one run is wanted", async () => {
    const { store } = await finishedAndDue()
    const next = await enqueued(store, aRun({ liveKey: "live" }))

    assert.deepEqual(idsOf(await claimedBy(store, 1)), [next.id])
  })

  test("keeps its end if it can't be read either", async () => {
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
  // A NUL ends what some drivers read (others give such a run), and bytes that are no UTF-8 are read as U+FFFD: neither id
  // finds its row.
  test.each([
    ["a NUL and a payload that can't be read", "cast(x'610062' as text)", "'x'"],
    ["no UTF-8", "cast(x'61ff' as text)", "'{}'"],
    ["no UTF-8 and a payload that can't be read", "cast(x'61ff' as text)", "'x'"],
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
