import assert from "node:assert/strict"
import { createScheduler } from "belfry"
import type { Store } from "belfry/store"
import { test } from "vitest"
import { memory } from "../../src/index.ts"
import { rejectsWith } from "../support/scratch.ts"

test("a schedule that changes at each try is given up, with its id", async () => {
  const store: Store = memory()
  let tries = 0
  const moving: Store = {
    ...store,
    deleteSchedule: async () => {
      tries++
      return { outcome: "stale" }
    },
  }
  const scheduler = createScheduler({ store: moving, tasks: [] })
  await scheduler.schedules.create("moving", { task: "any", cron: "* * * * *" })

  await rejectsWith(
    "BELFRY_SCHEDULE_CHANGED",
    scheduler.schedules.delete("moving"),
    /"moving".*20 times.*deleted/,
  )

  assert.equal(tries, 20)
})
