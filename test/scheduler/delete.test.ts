import assert from "node:assert/strict"
import { createScheduler, defineTask } from "belfry"
import type { Store } from "belfry/store"
import { createTestScheduler } from "belfry/testing"
import { test } from "vitest"
import { memory } from "../../src/index.ts"
import { rejectsWith } from "../support/scratch.ts"

test("delete gives up after 200 tries if the schedule changes each time, and the error has its id", async () => {
  const store: Store = memory()
  let tries = 0
  const moving: Store = {
    ...store,
    fire: async () => {
      tries++
      return [{ outcome: "stale" }]
    },
  }
  const scheduler = createScheduler({ store: moving, tasks: [] })
  await scheduler.schedules.create("moving", { task: "any", cron: "* * * * *" })

  await rejectsWith(
    "BELFRY_SCHEDULE_CHANGED",
    scheduler.schedules.delete("moving"),
    /"moving".*200 times.*deleted/,
  )

  assert.equal(tries, 200)
})

test("an occurrence that a deleted schedule had passed over runs if the schedule is created again", async () => {
  const performed: string[] = []
  const task = defineTask({ name: "t", run: ({ run }) => void performed.push(run.id) })
  await using lab = await createTestScheduler({ tasks: [task], startAt: "2026-06-01T10:30:00Z" })
  const { schedules } = lab.scheduler
  const create = () => schedules.create("once", { task, at: "2026-06-01T12:00:00Z" })

  await create()
  await schedules.reschedule("once", "2026-06-01T14:00:00Z")
  await schedules.delete("once")
  await create()
  await lab.advanceTo("2026-06-01T15:00:00Z")

  assert.deepEqual(performed, ["once@2026-06-01T12:00:00Z"])
})

test("a deletion that the store refuses is reported at once, with the store's reason", async () => {
  let tries = 0
  const refusing: Store = {
    ...memory(),
    fire: async () => {
      tries++
      return [{ outcome: "unstorable", why: "the journal entry is too large" }]
    },
  }
  const scheduler = createScheduler({ store: refusing, tasks: [] })
  await scheduler.schedules.create("s", { task: "any", cron: "* * * * *" })

  await rejectsWith("BELFRY_STORE_REFUSED", scheduler.schedules.delete("s"), /the journal entry is too large/)

  assert.equal(tries, 1)
})

test("a schedule that keeps changing is reported by a bulk delete, and the others are deleted", async () => {
  const store: Store = memory()
  const moving: Store = {
    ...store,
    fire: async (plans) =>
      plans.some(({ scheduleId }) => scheduleId === "moving") ? [{ outcome: "stale" }] : store.fire(plans),
  }
  const scheduler = createScheduler({ store: moving, tasks: [] })
  for (const id of ["a", "moving", "z"])
    await scheduler.schedules.create(id, { task: "any", cron: "* * * * *" })

  const { ids, refused } = await scheduler.schedules.delete({ all: true })

  assert.deepEqual(
    [ids, refused.map(({ id, code }) => [id, code])],
    [["a", "z"], [["moving", "BELFRY_SCHEDULE_CHANGED"]]],
  )
})
