import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { collectedLog } from "../support/collected-log.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet, taking } from "../support/fleet.ts"

/** Processes that declare the same schedules, each with its own connection to the store. */
async function declaringFleet(count: number, schedule: object = { cron: "* * * * *" }) {
  const fleet = new Fleet()
  const performed: string[] = []
  const { logger, lines } = collectedLog()
  const task = defineTask({ name: "task", run: ({ run }) => void performed.push(run.id) })
  const schedules = [task.schedule("s", schedule as { cron: string })]
  const wires = Array.from({ length: count }, () => faultyStore(fleet.store))
  for (const { store } of wires) await fleet.started({ store, tasks: [task], schedules, logger })
  const breakDown = () => {
    for (const wire of wires) wire.breakDown("dueSchedules", "fire", "findSchedules")
  }
  const mend = () => {
    for (const wire of wires) wire.mend()
  }
  return { fleet, performed, lines, breakDown, mend }
}

function minutesOf(ids: readonly string[]): readonly string[] {
  return ids.map((id) => id.slice("s@2026-01-01T".length, -1)).sort()
}

for (const count of [1, 3]) {
  test(`while schedules can't be read, ${count} process(es) fire declared ones from memory with the same run ids`, async () => {
    const { fleet, performed, breakDown, mend } = await declaringFleet(count)
    await fleet.advance("2m30s")

    breakDown()
    await fleet.advance("5m")
    assert.deepEqual(minutesOf(performed), [
      "00:01:00",
      "00:02:00",
      "00:03:00",
      "00:04:00",
      "00:05:00",
      "00:06:00",
      "00:07:00",
    ])

    mend()
    await fleet.advance("4m")
    assert.equal(performed.length, 11)
    assert.equal(new Set(performed).size, 11)
    assert.ok((await fleet.runs()).every((run) => run.state === "succeeded"))
    await fleet[Symbol.asyncDispose]()
  })
}

test("when schedules can be read again, a run with overlap replace isn't cancelled by itself", async () => {
  await using fleet = new Fleet()
  const wire = faultyStore(fleet.store)
  const task = defineTask({ name: "task", run: () => taking(fleet.clock, "45s") })
  await fleet.started({
    store: wire.store,
    tasks: [task],
    schedules: [task.schedule("s", { cron: "* * * * *", overlap: "replace" })],
  })
  await fleet.advance("90s")

  wire.breakDown("dueSchedules")
  await fleet.advance("4m40s")
  wire.mend()
  await fleet.advance("40s")

  assert.deepEqual(
    (await fleet.runs()).map(({ state }) => state),
    Array(6).fill("succeeded"),
  )
})

test("a schedule with a dependency is fired from memory if runs of the dependency succeeded", async () => {
  await using fleet = new Fleet()
  const wire = faultyStore(fleet.store)
  const performed: string[] = []
  const task = defineTask({ name: "task", run: ({ run }) => void performed.push(run.id) })
  await fleet.started({
    store: wire.store,
    tasks: [task],
    schedules: [
      task.schedule("a", { cron: "* * * * *" }),
      task.schedule("s", { cron: "30 * * * * *", dependsOn: [{ schedule: "a", within: "5m" }] }),
    ],
  })
  await fleet.advance("2m")

  wire.breakDown("dueSchedules")
  await fleet.advance("3m")

  assert.deepEqual(minutesOf(performed.filter((id) => id.startsWith("s@"))), [
    "00:01:30",
    "00:02:30",
    "00:03:30",
    "00:04:30",
  ])
})

test("the fall-back and its end are logged once each", async () => {
  const { fleet, lines, breakDown, mend } = await declaringFleet(1)
  await fleet.advance("1m")

  breakDown()
  await fleet.advance("5m")
  mend()
  await fleet.advance("1m")

  const messages = lines.filter(({ component }) => component === "local-firing").map(({ message }) => message)
  assert.deepEqual(
    messages.filter((message) => message !== "Fired"),
    ["Firing declared schedules from memory", "Stored schedules fire again"],
  )
  await fleet[Symbol.asyncDispose]()
})

test("a schedule never has more runs than maxRuns, even if some are fired from memory", async () => {
  const { fleet, performed, breakDown, mend } = await declaringFleet(2, { cron: "* * * * *", maxRuns: 4 })
  await fleet.advance("2m30s")

  breakDown()
  await fleet.advance("10m")
  const before = new Set(performed).size
  assert.ok(before > 2, `${before} runs: some of them from memory`)
  mend()
  await fleet.advance("5m")

  assert.ok(new Set(performed).size <= 4, `${new Set(performed).size} runs`)
  const schedule = await fleet.node().schedules.get("s")
  assert.equal(schedule?.firedCount, new Set(performed).size)
  await fleet[Symbol.asyncDispose]()
})

test("a schedule that isn't declared in code is not fired from memory", async () => {
  const { fleet, performed, breakDown } = await declaringFleet(1, { cron: "0 0 1 6 *" })
  await fleet.node().schedules.create("by-hand", { task: "task", cron: "* * * * *" })
  await fleet.advance("2m30s")
  performed.length = 0

  breakDown()
  await fleet.advance("5m")

  assert.deepEqual(performed, [])
  await fleet[Symbol.asyncDispose]()
})

test("one failed read doesn't begin the fall-back", async () => {
  const { fleet, lines, breakDown, mend } = await declaringFleet(1)
  await fleet.advance("59s")

  breakDown()
  await fleet.advance("1100ms")
  mend()
  await fleet.advance("1m")

  assert.ok(!lines.some(({ component }) => component === "local-firing"))
  await fleet[Symbol.asyncDispose]()
})

test("while runs can't be written either, nothing is fired from memory, and catch-up applies afterwards", async () => {
  await using fleet = new Fleet()
  const wire = faultyStore(fleet.store)
  const performed: string[] = []
  const task = defineTask({
    name: "task",
    run: ({ run }) => void performed.push(`${run.id} ${run.standsFor}`),
  })
  await fleet.started({
    store: wire.store,
    tasks: [task],
    schedules: [task.schedule("s", { cron: "* * * * *" })],
  })
  await fleet.advance("90s")

  wire.breakDown()
  await fleet.advance("5m")
  wire.mend()
  await fleet.advance("1m")

  assert.deepEqual(performed, [
    "s@2026-01-01T00:01:00Z 1",
    "s@2026-01-01T00:06:00Z 5",
    "s@2026-01-01T00:07:00Z 1",
  ])
})
