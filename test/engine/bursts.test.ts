import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet } from "../support/fleet.ts"

const TWO_SECONDS_BEFORE_TEN = "2026-01-01T09:59:58.000Z"

/** A fleet two seconds before ten, and many schedules that are due at ten. */
async function burst(count: number, more: { overlap?: "skip" | "replace" } = {}) {
  const fleet = new Fleet("2026-01-01T09:30:00Z")
  const started: string[] = []
  const note = defineTask({ name: "note", run: () => void started.push(fleet.now().slice(11)) })
  const { store, count: calls, calls: sent } = faultyStore(fleet.store)
  const ids = Array.from({ length: count }, (_, number) => `daily-${number}`)
  const node = await fleet.started({
    store,
    tasks: [note],
    concurrency: 1_000,
    schedules: ids.map((id) => note.schedule(id, { cron: "0 10 * * *", ...more })),
  })
  await fleet.advance(Date.parse(TWO_SECONDS_BEFORE_TEN) - Date.parse(fleet.now()))
  const stored = async () => (await fleet.runs()).length
  const resetCalls = () => {
    sent.length = 0
  }
  return { fleet, node, started, stored, calls, resetCalls }
}

describe("many schedules at one instant", () => {
  test("600 schedules of one instant are fired before it, and their runs begin at it", async () => {
    const { fleet, started, stored } = await burst(600)
    await using _ = fleet

    await fleet.advance("1999ms")
    const before = [await stored(), started.length]
    await fleet.advance("1ms")

    assert.deepEqual(before, [600, 0])
    assert.deepEqual([started.length, new Set(started)], [600, new Set(["10:00:00.000Z"])])
  })

  test("100 schedules of one instant are fired 200 ms before it, and 49 at it", async () => {
    for (const [count, leadMs] of [
      [49, 0],
      [100, 200],
    ] as const) {
      const { fleet, stored } = await burst(count)
      await using _ = fleet

      await fleet.advance(2_000 - leadMs - 1)
      const before = await stored()
      await fleet.advance("1ms")

      assert.deepEqual([before, await stored()], [0, count])
    }
  })

  test("firing ahead takes one read and one write", async () => {
    const { fleet, calls, resetCalls } = await burst(400)
    await using _ = fleet
    resetCalls()

    await fleet.advance("10s")

    assert.deepEqual([calls("dueSchedules"), calls("fire")], [1, 1])
  })

  test("schedules that can't be planned ahead are fired at their instant, without repeated reads before it", async () => {
    const { fleet, started, stored, calls, resetCalls } = await burst(600, { overlap: "replace" })
    await using _ = fleet
    resetCalls()

    await fleet.advance("1999ms")
    const before = [await stored(), calls("dueSchedules")]
    await fleet.advance("1ms")

    assert.deepEqual(before, [0, 1])
    assert.deepEqual([started.length, new Set(started)], [600, new Set(["10:00:00.000Z"])])
  })

  test("a schedule paused before it is fired ahead doesn't run, and one paused after that does", async () => {
    const { fleet, node, started } = await burst(600)
    await using _ = fleet

    await fleet.until(node.schedules.pause("daily-1"))
    await fleet.advance("1500ms")
    await fleet.until(node.schedules.pause("daily-2"))
    await fleet.advance("1s")

    assert.equal(started.length, 599)
  })

  test("another schedule due 500 ms before the burst is fired at its own time", async () => {
    const { fleet, node, started, stored } = await burst(600)
    await using _ = fleet
    await fleet.advance("1100ms")
    const fired = await stored()
    await fleet.until(node.schedules.create("early", { task: "note", at: "2026-01-01T09:59:59.500Z" }))

    await fleet.advance("399ms")
    const before = await stored()
    await fleet.advance("1ms")

    assert.deepEqual([fired, before, await stored()], [600, 600, 601])
    assert.deepEqual(started, ["09:59:59.500Z"])
  })

  test("several processes fire the schedules of one instant once", async () => {
    const { fleet, started, stored } = await burst(600)
    await using _ = fleet
    const note = defineTask({ name: "note", run: () => void started.push("elsewhere") })
    await fleet.started({ tasks: [note], concurrency: 1_000 })
    await fleet.started({ tasks: [note], concurrency: 1_000 })

    await fleet.advance("3s")

    assert.deepEqual([started.length, await stored()], [600, 600])
  })
})
