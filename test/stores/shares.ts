import assert from "node:assert/strict"
import type { DueSchedules, Store } from "belfry/store"
import { test } from "vitest"
import { aPlan, aSchedule } from "../../src/store/laws/factories.ts"
import { created, several, sorted } from "../../src/store/laws/steps.ts"

const idsOf = ({ due }: DueSchedules) => due.map(({ schedule }) => schedule.id)
/** Far enough ahead that a share lasts for its maximum of 500 ms. */
const AHEAD_MS = 3_600_000

/** How due schedules are divided among processes that read at the same time. The same for every store. */
export function proveShares(openStores: (count: number) => Promise<readonly Store[]>): void {
  async function storesWith(count: number, due: number) {
    const stores = await openStores(count)
    const ids = several(due, (index) => `s${index}`)
    for (const id of ids) await created(stores[0]!, aSchedule({ id, nextRunAt: 0 }))
    return { stores, ids }
  }

  test("processes that read for the first time at once are given different schedules", async () => {
    const { stores, ids } = await storesWith(12, 200)

    const reads = await Promise.all(
      stores.map((store) => store.dueSchedules({ limit: 500, aheadMs: AHEAD_MS })),
    )

    const given = reads.flatMap(idsOf)
    assert.ok(given.length >= 1, "at least one process is given schedules")
    // A share lasts for 500 ms. On a machine that takes longer for twelve reads, some schedules are given twice.
    const tookMs = Math.max(...reads.map(({ now }) => now)) - Math.min(...reads.map(({ now }) => now))
    if (tookMs < 500) assert.equal(new Set(given).size, given.length, "no schedule is given twice")
    assert.ok(new Set(given).size <= ids.length)
  })

  test("a process is given its schedules again until they are fired", async () => {
    const { stores, ids } = await storesWith(1, 40)

    const first = await stores[0]!.dueSchedules({ limit: 100 })
    const again = await stores[0]!.dueSchedules({ limit: 100 })

    assert.deepEqual(
      [sorted(idsOf(first)), sorted(idsOf(again))],
      [ids, ids].map((each) => sorted(each)),
    )
    assert.equal(again.nextDueAt, null)
  })

  test("a single process is given all schedules in turn, also those that a dead process was given", async () => {
    const { stores, ids } = await storesWith(2, 60)
    const [alone, dead] = stores as [Store, Store]
    await dead.dueSchedules({ limit: 30 })

    const fired = new Set<string>()
    while (fired.size < ids.length) {
      const { due, now, nextDueAt } = await alone.dueSchedules({ limit: 25 })
      assert.ok(due.length <= 25, `${due.length} schedules were given`)
      if (due.length === 0)
        assert.ok(nextDueAt !== null && nextDueAt > now, "the answer says when to read again")
      await alone.fire(due.map(({ schedule }) => aPlan({ ...schedule, nextRunAt: null })))
      for (const { schedule } of due) fired.add(schedule.id)
    }

    assert.deepEqual(idsOf(await alone.dueSchedules({ limit: 25 })), [])
  })
}
