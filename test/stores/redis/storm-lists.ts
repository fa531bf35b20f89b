import assert from "node:assert/strict"
import type { RunFilter, RunPage, Store } from "belfry/store"
import { type Run, UNFINISHED } from "../../../src/core/run.ts"
import { concurrencyKeyOf } from "../../../src/core/schedule.ts"
import { aPage, idsOf, pagedRuns } from "../../../src/store/laws/steps.ts"

const ORDERS: readonly RunPage["orderBy"][] = ["createdAt", "scheduledFor", "completedAt"]

/** Every list of runs, page by page, is what sorting all of them gives, and every count is its length. */
export async function assertListed(store: Store, schedules: readonly string[]): Promise<void> {
  const all = await store.findRuns({}, aPage({ limit: 10_000 }))
  for (const scheduleId of schedules) {
    const own = all.filter((run) => run.scheduleId === scheduleId)
    for (const orderBy of ORDERS) await assertPaged(store, own, { scheduleId }, orderBy)
    const key = concurrencyKeyOf(scheduleId)
    const held = all.filter((run) => run.concurrencyKey === key && UNFINISHED.includes(run.state))
    await assertPaged(store, held, { concurrencyKey: key, states: UNFINISHED }, "createdAt")
    await assertCounted(store, own, { scheduleId })
    const planned = own.filter((run) => run.triggeredBy === "schedule")
    await assertCounted(store, planned, { scheduleId, triggeredBy: ["schedule"] })
  }
  for (const orderBy of ORDERS) await assertPaged(store, all, {}, orderBy)
  await assertCounted(store, all, {})
}

async function assertPaged(
  store: Store,
  runs: readonly Run[],
  filter: RunFilter,
  orderBy: RunPage["orderBy"],
): Promise<void> {
  const expected = runs
    .filter((run) => run[orderBy] !== null)
    .sort((a, b) => b[orderBy]! - a[orderBy]! || (a.id < b.id ? 1 : -1))
  const found = await pagedRuns(store, filter, { orderBy, limit: Math.ceil((runs.length + 1) / 5) })
  assert.deepEqual(idsOf(found), idsOf(expected), `${JSON.stringify(filter)} by ${orderBy}`)
}

async function assertCounted(store: Store, runs: readonly Run[], filter: RunFilter): Promise<void> {
  for (const [state, count] of Object.entries(await store.countRuns(filter))) {
    assert.equal(
      count,
      runs.filter((run) => run.state === state).length,
      `${JSON.stringify(filter)} ${state}`,
    )
  }
}
