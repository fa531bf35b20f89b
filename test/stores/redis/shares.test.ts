import assert from "node:assert/strict"
import { test } from "vitest"
import { aSchedule } from "../../../src/store/laws/factories.ts"
import { created, several, sorted } from "../../../src/store/laws/steps.ts"
import { aFreshStore } from "./scratch.ts"

test("those who look one after another are given different schedules, and together all", async () => {
  const { store } = await aFreshStore()
  const ids = several(70, (index) => `s${index}`)
  for (const id of ids) await created(store, aSchedule({ id, nextRunAt: 0 }))

  const given: string[] = []
  for (let looks = 0; looks < 4; looks++) {
    const { due } = await store.dueSchedules({ limit: 20 })
    given.push(...due.map(({ schedule }) => schedule.id))
  }

  assert.deepEqual(sorted(given), sorted(ids))
})

test("who asks for more than one script gives is told to come again at once", async () => {
  const { store } = await aFreshStore()
  for (const id of several(300, (index) => `s${index}`)) await created(store, aSchedule({ id, nextRunAt: 0 }))

  const { due, now, nextDueAt } = await store.dueSchedules({ limit: 500 })

  assert.ok(due.length < 300, `${due.length} were given`)
  assert.equal(nextDueAt, now)
})
