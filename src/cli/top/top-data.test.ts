import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../index.ts"
import { createTestScheduler } from "../../testing.ts"
import type { Io } from "../terminal/io.ts"
import { readTopData, SCHEDULES_MAX } from "./top-data.ts"

const noop = defineTask({ name: "noop", run: () => undefined })

/** More schedules than one screen reads. The one that is due next has the last id. */
async function manySchedules() {
  const hourly = Array.from({ length: SCHEDULES_MAX + 1 }, (_, index) =>
    noop.schedule(`hourly-${String(index).padStart(4, "0")}`, { every: "1h" }),
  )
  return createTestScheduler({
    tasks: [noop],
    schedules: [...hourly, noop.schedule("zealous", { every: "1m", description: "Sweeps the yard" })],
  })
}

const io = { clock: { now: () => 0, monotonic: () => 0 } } as Io

test("of more schedules than a screen reads, it reads the first in its own order", async () => {
  await using scheduler = await manySchedules()
  const firstBy = async (sort: "id" | "next") =>
    (await readTopData(scheduler.scheduler, io, { filter: "", sort })).schedules[0]!.id

  assert.equal(await firstBy("next"), "zealous")
  assert.equal(await firstBy("id"), "hourly-0000")
})

test("a filter finds a schedule that is not among the first", async () => {
  await using scheduler = await manySchedules()

  const { schedules } = await readTopData(scheduler.scheduler, io, { filter: "sweeps", sort: "id" })

  assert.deepEqual(
    schedules.map(({ id }) => id),
    ["zealous"],
  )
})
