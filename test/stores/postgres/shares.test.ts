import assert from "node:assert/strict"
import type { PostgresStore } from "belfry/postgres"
import { test } from "vitest"
import { aPlan, aSchedule } from "../../../src/store/laws/factories.ts"
import { created, several } from "../../../src/store/laws/steps.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { anOpenStore } from "./scratch.ts"

async function someStores(count: number, due: number): Promise<readonly PostgresStore[]> {
  const url = await migratedDatabase()
  const made = await Promise.all(several(count, () => anOpenStore(url)))
  for (const id of several(due, (index) => `s${index}`)) {
    await created(made[0]!, aSchedule({ id, nextRunAt: 0 }))
  }
  return made
}

const idsOf = async (store: PostgresStore, limit: number) =>
  (await store.dueSchedules({ limit })).due.map(({ schedule }) => schedule.id)

test("processes that look one after another are given different schedules", async () => {
  const processes = await someStores(4, 80)

  const given: string[] = []
  for (const store of processes) given.push(...(await idsOf(store, 20)))

  assert.equal(new Set(given).size, given.length)
  assert.ok(given.length > 40, `${given.length} were given`)
})

test("one process alone is given everything, a call at a time, also what died with another", async () => {
  const [alone, other] = await someStores(2, 80)
  await idsOf(other!, 50)

  const fired = new Set<string>()
  let calls = 0
  for (; fired.size < 80 && calls < 20; calls++) {
    const { due, now, nextDueAt } = await alone!.dueSchedules({ limit: 50 })
    assert.ok(due.length > 0, "something is due")
    const plans = due.map(({ schedule }) => aPlan({ ...schedule, nextRunAt: null }))
    await alone!.fire(plans)
    for (const { scheduleId } of plans) fired.add(scheduleId)
    const isMore = fired.size < 80 && due.length < 50
    assert.equal(nextDueAt, isMore ? now : null, "it comes again at once while there is more")
  }

  assert.equal(fired.size, 80)
  assert.ok(calls <= 8, `${calls} calls`)
})
