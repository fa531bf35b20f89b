import assert from "node:assert/strict"
import type { RunFilter, RunPage, Store } from "belfry/store"
import { UNFINISHED } from "../../../src/core/run/run.ts"
import type { RunSummary } from "../../../src/core/run/run-summary.ts"
import { concurrencyKeyOf } from "../../../src/core/schedule/schedule.ts"
import { aPage, countRuns, idsOf, pagedRuns } from "../../../src/store/laws/steps.ts"

const ORDERS: readonly RunPage["orderBy"][] = ["createdAt", "scheduledFor", "completedAt", "id"]

/**
 * Asserts that every list of runs, read page by page, equals all runs filtered and sorted, and that every count is its length.
 */
export async function assertListsMatch(store: Store, schedules: readonly string[]): Promise<void> {
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
  for (const task of new Set(all.map((run) => run.task))) {
    const own = all.filter((run) => run.task === task)
    await assertPaged(store, own, { task }, "createdAt")
  }
  for (const parentId of new Set(all.flatMap((run) => run.parentId ?? []))) {
    const parts = all.filter((run) => run.parentId === parentId)
    await assertPaged(store, parts, { parentId }, "createdAt")
  }
  for (const workerId of new Set(all.flatMap((run) => run.workerId ?? []))) {
    const held = all.filter((run) => run.workerId === workerId)
    await assertPaged(store, held, { workerId }, "createdAt")
  }
  const running = all.filter((run) => run.state === "running")
  await assertPaged(store, running, { states: ["running"] }, "createdAt")
  await assertCounted(store, all, {})
}

async function assertPaged(
  store: Store,
  runs: readonly RunSummary[],
  filter: RunFilter,
  orderBy: RunPage["orderBy"],
): Promise<void> {
  const instantOf = (run: RunSummary) => (orderBy === "id" ? 0 : run[orderBy])
  const isLess = (a: string, b: string) => (a < b ? -1 : 1)
  const expected = runs
    .filter((run) => instantOf(run) !== null)
    .sort(
      (a, b) => instantOf(b)! - instantOf(a)! || (orderBy === "id" ? isLess(a.id, b.id) : isLess(b.id, a.id)),
    )
  const found = await pagedRuns(store, filter, { orderBy, limit: Math.ceil((runs.length + 1) / 5) })
  assert.deepEqual(idsOf(found), idsOf(expected), `${JSON.stringify(filter)} by ${orderBy}`)
}

async function assertCounted(store: Store, runs: readonly RunSummary[], filter: RunFilter): Promise<void> {
  for (const [state, count] of Object.entries(await countRuns(store, filter))) {
    assert.equal(
      count,
      runs.filter((run) => run.state === state).length,
      `${JSON.stringify(filter)} ${state}`,
    )
  }
}
