import assert from "node:assert/strict"
import { test } from "vitest"
import { aSchedule } from "../../../src/store/laws/factories.ts"
import { created, several, sorted } from "../../../src/store/laws/steps.ts"
import { aVirtualClock } from "../../lock/lab.ts"
import { aFreshStore, anOpenStore } from "./scratch.ts"

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

test("those who look in turn are each given their share, and together all", async () => {
  const { store, place } = await aFreshStore()
  const ids = several(100, (index) => `s${index}`)
  for (const id of ids) await created(store, aSchedule({ id, nextRunAt: 0 }))
  // What was seen longer ago than a second doesn't count, so their clocks stand still.
  const crew = await Promise.all(several(5, () => anOpenStore(place, { clock: aVirtualClock() })))
  const lookInTurn = async () => {
    const looks: (readonly string[])[] = []
    for (const each of crew) {
      const { due } = await each.dueSchedules({ limit: 100 })
      looks.push(due.map(({ schedule }) => schedule.id))
    }
    return looks
  }

  const alone = await lookInTurn()
  await lookInTurn()
  const together = await lookInTurn()

  assert.deepEqual(
    alone.map((look) => look.length),
    [100, 100, 100, 100, 100],
  )
  assert.deepEqual(
    together.map((look) => look.length),
    [20, 20, 20, 20, 20],
  )
  assert.deepEqual(sorted(together.flat()), sorted(ids))
})
