import assert from "node:assert/strict"
import { test } from "vitest"
import { aSchedule } from "../../../src/store/laws/factories.ts"
import { created, several } from "../../../src/store/laws/steps.ts"
import { proveShares } from "../shares.ts"
import { aFreshStore, anOpenStore } from "./scratch.ts"

proveShares(async (count) => {
  const { store, place } = await aFreshStore()
  return [store, ...(await Promise.all(several(count - 1, () => anOpenStore(place))))]
})

test("a process that asks for more schedules than one script returns is told to read again at once", async () => {
  const { store } = await aFreshStore()
  for (const id of several(300, (index) => `s${index}`)) await created(store, aSchedule({ id, nextRunAt: 0 }))

  const { due, now, nextDueAt } = await store.dueSchedules({ limit: 500 })

  assert.ok(due.length < 300, `${due.length} were returned`)
  assert.equal(nextDueAt, now)
})
