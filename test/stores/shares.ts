import assert from "node:assert/strict"
import type { DueSchedules, Store } from "belfry/store"
import { test } from "vitest"
import { aPlan, aSchedule } from "../../src/store/laws/factories.ts"
import { created, several, sorted } from "../../src/store/laws/steps.ts"

const idsOf = ({ due }: DueSchedules) => due.map(({ schedule }) => schedule.id)
/** So far ahead that a share which was just given is still with its reader, however slow the machine is. */
const AHEAD_MS = 3_600_000

/** What many processes are given that read at the same moment: the same on every store. */
export function proveShares(openStores: (count: number) => Promise<readonly Store[]>): void {
  async function storesWith(count: number, due: number) {
    const stores = await openStores(count)
    const ids = several(due, (index) => `s${index}`)
    for (const id of ids) await created(stores[0]!, aSchedule({ id, nextRunAt: 0 }))
    return { stores, ids }
  }

  test("processes that have never read before are not all given the same schedules", async () => {
    const { stores, ids } = await storesWith(12, 200)

    const reads = await Promise.all(
      stores.map((store) => store.dueSchedules({ limit: 500, aheadMs: AHEAD_MS })),
    )

    const given = reads.flatMap(idsOf)
    assert.ok(given.length >= 1, "somebody is given some")
    // A share lasts for half a second. On a machine that takes longer for twelve reads, some are given twice.
    const tookMs = Math.max(...reads.map(({ now }) => now)) - Math.min(...reads.map(({ now }) => now))
    if (tookMs < 500) assert.equal(new Set(given).size, given.length, "none is given twice")
    assert.ok(new Set(given).size <= ids.length)
  })

  test("a process is given again what it was given, until it is fired", async () => {
    const { stores, ids } = await storesWith(1, 40)

    const first = await stores[0]!.dueSchedules({ limit: 100 })
    const again = await stores[0]!.dueSchedules({ limit: 100 })

    assert.deepEqual(
      [sorted(idsOf(first)), sorted(idsOf(again))],
      [ids, ids].map((each) => sorted(each)),
    )
    assert.equal(again.nextDueAt, null)
  })

  test("a process alone is given everything, call by call, and also what another was given and didn't fire", async () => {
    const { stores, ids } = await storesWith(2, 60)
    const [alone, dead] = stores as [Store, Store]
    await dead.dueSchedules({ limit: 30 })

    const fired = new Set<string>()
    while (fired.size < ids.length) {
      const { due, now, nextDueAt } = await alone.dueSchedules({ limit: 25 })
      assert.ok(due.length <= 25, `${due.length} were given`)
      if (due.length === 0) assert.ok(nextDueAt !== null && nextDueAt > now, "it is told when to come again")
      await alone.fire(due.map(({ schedule }) => aPlan({ ...schedule, nextRunAt: null })))
      for (const { schedule } of due) fired.add(schedule.id)
    }

    assert.deepEqual(idsOf(await alone.dueSchedules({ limit: 25 })), [])
  })
}
