import { expect, test } from "vitest"
import { defineTask, type Scheduler } from "../../src/index.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet } from "../support/fleet.ts"

/** Two processes that declare the same schedule, and an operator in a third process. */
async function declaringFleet() {
  const fleet = new Fleet()
  const performed: string[] = []
  const task = defineTask({ name: "task", run: ({ run }) => void performed.push(run.id) })
  const schedules = [task.schedule("s", { cron: "* * * * *" })]
  const wires = [faultyStore(fleet.store), faultyStore(fleet.store)]
  const nodes: Scheduler[] = []
  for (const { store } of wires) nodes.push(await fleet.started({ store, tasks: [task], schedules }))
  return { fleet, performed, wires, nodes, operator: fleet.node() }
}

const STEPS: Readonly<Record<string, (operator: Scheduler) => Promise<unknown>>> = {
  paused: ({ schedules }) => schedules.pause("s"),
  deleted: ({ schedules }) => schedules.delete("s"),
  edited: ({ schedules }) => schedules.update("s", { cron: "0 0 1 6 *" }, { ifRevision: 1 }),
  async skipped({ schedules }) {
    for (const { scheduledFor } of await schedules.preview("s", 3)) await schedules.skip("s", scheduledFor)
  },
}

for (const [change, step] of Object.entries(STEPS)) {
  test(`a schedule that is ${change} seconds before an outage is not fired from memory`, async () => {
    const { fleet, performed, wires, operator } = await declaringFleet()
    await fleet.advance("2m24s")
    performed.length = 0

    await step(operator)
    await fleet.advance("6s")
    for (const wire of wires) wire.breakDown("dueSchedules", "fire", "findSchedules")
    await fleet.advance("3m")

    expect(performed).toEqual([])
    await fleet[Symbol.asyncDispose]()
  })

  test(`a schedule that is ${change} during an outage in which it can still be read is not fired from memory`, async () => {
    const { fleet, performed, wires, operator } = await declaringFleet()
    await fleet.advance("2m10s")
    for (const wire of wires) wire.breakDown("dueSchedules", "fire")
    await fleet.advance("20s")
    await fleet.advance("1m")
    expect(performed).toContain("s@2026-01-01T00:03:00Z")
    performed.length = 0

    await step(operator)
    await fleet.advance("3m")

    expect(performed).toEqual([])
    await fleet[Symbol.asyncDispose]()
  })
}

for (const change of ["paused", "deleted"]) {
  test(`a schedule that a process has ${change} itself is not fired from memory, even if the store sends no hints`, async () => {
    await using fleet = new Fleet()
    const performed: string[] = []
    const task = defineTask({ name: "task", run: ({ run }) => void performed.push(run.id) })
    const wire = faultyStore({ ...fleet.store, listen: async () => async () => undefined })
    const schedules = [task.schedule("s", { cron: "* * * * *" })]
    const node = await fleet.started({ store: wire.store, tasks: [task], schedules })
    await fleet.advance("2m24s")
    performed.length = 0

    await STEPS[change]!(node)
    await fleet.advance("6s")
    wire.breakDown("dueSchedules", "fire", "findSchedules")
    await fleet.advance("3m")

    expect(performed).toEqual([])
  })
}

test("ten edits per second make each process read schedules about once per second", async () => {
  const { fleet, wires, operator } = await declaringFleet()
  await fleet.advance("10s")
  const before = wires[0]!.count("findSchedules")

  for (let edit = 0; edit < 50; edit++) {
    await operator.schedules.create(`by-hand-${edit}`, { task: "task", cron: "0 0 1 6 *" })
    await fleet.advance("100ms")
  }

  const reads = wires[0]!.count("findSchedules") - before
  expect(reads).toBeGreaterThanOrEqual(4)
  expect(reads).toBeLessThanOrEqual(7)
  await fleet[Symbol.asyncDispose]()
})
