import assert from "node:assert/strict"
import { createScheduler, defineTask, memory, silentLogger } from "belfry"
import { describe, test } from "vitest"

const task = defineTask({ name: "t", run: () => undefined })
const on = (schedule: string) => ({ dependsOn: [{ schedule, within: "1h" }] }) as const

describe("a schedule that depends on one that doesn't exist", () => {
  const missing = {
    code: "BELFRY_SCHEDULE_INVALID",
    message: /^Schedule "b": dependsOn names the schedule "a", which doesn't exist/,
  }

  test("is not created before it, nor changed so", async () => {
    const { schedules } = createScheduler({ store: memory() })
    await assert.rejects(schedules.create("b", { task: "t", cron: "@daily", ...on("a") }), missing)
    await schedules.create("b", { task: "t", cron: "@daily" })
    await assert.rejects(schedules.update("b", on("a"), { ifRevision: 1 }), missing)

    await schedules.create("a", { task: "t", cron: "@daily" })
    await schedules.update("b", on("a"), { ifRevision: 1 })
  })

  test("stays as it is if the other is deleted, and can still be changed", async () => {
    const { schedules } = createScheduler({ store: memory() })
    await schedules.create("a", { task: "t", cron: "@daily" })
    await schedules.create("b", { task: "t", cron: "@daily", ...on("a") })
    await schedules.delete("a")

    await schedules.update("b", { description: "alone" }, { ifRevision: 1 })
  })

  test("may depend on a local one of this process", async () => {
    const schedules = [task.schedule("a", { cron: "@daily", local: true })]
    const scheduler = createScheduler({ store: memory(), tasks: [task], schedules })

    await scheduler.schedules.create("b", { task, cron: "@daily", ...on("a") })
  })

  test("is warned of if it is declared; within a set, the order doesn't matter", async () => {
    const warnings: unknown[] = []
    await using scheduler = createScheduler({
      store: memory(),
      tasks: [task],
      schedules: [
        task.schedule("c", { cron: "@daily", ...on("d") }),
        task.schedule("d", { cron: "@daily" }),
        task.schedule("b", { cron: "@daily", ...on("a") }),
      ],
      logger: { ...silentLogger, warn: ({ missing }) => warnings.push(missing) },
    })

    await scheduler.start()

    assert.deepEqual(warnings, [["a"]])
  })
})
