import assert from "node:assert/strict"
import { test } from "vitest"
import { Fleet, taking } from "../../../test/support/fleet.ts"
import { defineTask, type StatisticsQuery } from "../../index.ts"
import { createTestScheduler } from "../../testing.ts"
import type { Io } from "../terminal/io.ts"
import { MeanDurations } from "./mean-durations.ts"
import { readTopData, SCHEDULES_MAX, sectionsOf, type TopData } from "./top-data.ts"
import { TOP_START } from "./top-keys.ts"
import { type ScreenContent, screenLines } from "./top-lines.ts"

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
    (await readTopData(scheduler.scheduler, io, { filter: "", sort }, new MeanDurations())).schedules[0]!.id

  assert.equal(await firstBy("next"), "zealous")
  assert.equal(await firstBy("id"), "hourly-0000")
})

test("a filter finds a schedule that is not among the first", async () => {
  await using scheduler = await manySchedules()

  const state = { filter: "sweeps", sort: "id" } as const
  const { schedules } = await readTopData(scheduler.scheduler, io, state, new MeanDurations())

  assert.deepEqual(
    schedules.map(({ id }) => id),
    ["zealous"],
  )
})

test("success and mean durations are those of the statistics, not of the newest runs", async () => {
  await using fleet = new Fleet()
  const slow = defineTask({
    name: "slow",
    retry: { attempts: 1 },
    async run({ run }) {
      await taking(fleet.clock, "40s")
      if (run.scheduledFor!.getTime() < Date.parse("2026-01-01T05:00:00Z")) throw new Error("not yet")
    },
  })
  const { schedules } = await fleet.started({ tasks: [slow] })
  await schedules.create("s", { task: slow, cron: "* * * * *" })
  await schedules.create("new", { task: "nobody", cron: "* * * * *" })
  await fleet.advance("10h")
  const means = new MeanDurations()
  const calls: unknown[] = []
  const node = fleet.node()
  const statistics = node.statistics.bind(node)
  const client = Object.assign(node, {
    statistics(query?: StatisticsQuery) {
      calls.push(query)
      return statistics(query)
    },
  })
  const io = { clock: fleet.clock } as unknown as Io
  const read = () => readTopData(client, io, { filter: "", sort: "id" }, means)

  const data = await read()
  await read()

  const { succeeded, failed } = data.lastDay
  assert.ok(failed >= 295 && succeeded >= 295, `${succeeded} of ${succeeded + failed}`)
  const ofSchedule = (id: string) => means.of(data.unfinished.find(({ scheduleId }) => scheduleId === id)!)
  assert.deepEqual([ofSchedule("s"), ofSchedule("new")], [40_000, null])
  assert.equal(calls.length, 4, "one for the last day with each screen, one for each schedule")
  const lines = screenLines(contentOf(data), { paint: (_, text) => text, columns: 200, rows: 40 })
  assert.match(lines[1]!, /success (49|50) % of (59\d|600) in 24 h$/)
  assert.ok(lines.some((line) => /▶ +s@\S+ .*mean 40 s/.test(line)))
})

function contentOf(data: TopData): ScreenContent {
  const about = { shownAddress: "x", zone: "UTC", chosen: null, log: [], state: TOP_START }
  return { ...about, data, sections: sectionsOf(data, TOP_START) }
}
