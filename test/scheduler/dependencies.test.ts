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

  test("is refused by create and by update until the other schedule exists", async () => {
    const { schedules } = createScheduler({ store: memory() })
    await assert.rejects(schedules.create("b", { task: "t", cron: "@daily", ...on("a") }), missing)
    await schedules.create("b", { task: "t", cron: "@daily" })
    await assert.rejects(schedules.update("b", on("a"), { ifRevision: 1 }), missing)

    await schedules.create("a", { task: "t", cron: "@daily" })
    await schedules.update("b", on("a"), { ifRevision: 1 })
  })

  test("can still be updated if the other schedule is deleted", async () => {
    const { schedules } = createScheduler({ store: memory() })
    await schedules.create("a", { task: "t", cron: "@daily" })
    await schedules.create("b", { task: "t", cron: "@daily", ...on("a") })
    await schedules.delete("a")

    await schedules.update("b", { description: "alone" }, { ifRevision: 1 })
  })

  test("may depend on a local schedule of this process", async () => {
    const schedules = [task.schedule("a", { cron: "@daily", local: true })]
    const scheduler = createScheduler({ store: memory(), tasks: [task], schedules })

    await scheduler.schedules.create("b", { task, cron: "@daily", ...on("a") })
  })

  test("gets a warning at start if it is declared in code; the order of the declarations doesn't matter", async () => {
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

describe("schedules that depend on each other", () => {
  const cycle = (message: string) => ({ code: "BELFRY_SCHEDULE_INVALID", message })
  const daily = { task: "t", cron: "@daily" } as const

  test("are refused by the change that closes the cycle, and the error has the cycle", async () => {
    const { schedules } = createScheduler({ store: memory() })
    await schedules.create("a", daily)
    await schedules.create("b", { ...daily, ...on("a") })
    await schedules.create("c", { ...daily, ...on("b") })

    await assert.rejects(
      schedules.update("a", on("c"), { ifRevision: 1 }),
      cycle(
        'Schedule "a": dependsOn makes a cycle: a → c → b → a. Schedules that depend on each other never fire.',
      ),
    )
    assert.deepEqual((await schedules.get("a"))?.dependsOn, [])
  })

  test("are refused if the cycle goes through a local schedule", async () => {
    const local = task.schedule("a", { cron: "@daily", local: true, ...on("b") })
    const { schedules } = createScheduler({ store: memory(), tasks: [task], schedules: [local] })

    await assert.rejects(schedules.create("b", { ...daily, ...on("a") }), /makes a cycle: b → a → b\./)
  })

  test("can be updated in other options, and the dependency can be removed", async () => {
    const store = memory()
    const { schedules } = createScheduler({ store })
    await schedules.create("a", daily)
    await schedules.create("b", { ...daily, ...on("a") })
    // Two updates at the same time can create a cycle that neither check finds.
    const [a] = await store.findSchedules({ ids: ["a"] }, { orderBy: "id", after: null, limit: 1 })
    await store.putSchedule({ ...a!, dependsOn: [{ scheduleId: "b", withinMs: 1 }] }, a!.version)

    await schedules.update("b", { description: "still here" }, { ifRevision: 1 })
    await schedules.update("a", { dependsOn: null }, { ifRevision: 1 })
  })

  test("are refused by createScheduler if they are declared in code", () => {
    const schedules = [
      task.schedule("a", { cron: "@daily", ...on("b") }),
      task.schedule("b", { cron: "@daily", ...on("a") }),
    ]

    assert.throws(
      () => createScheduler({ store: memory(), tasks: [task], schedules }),
      /Schedule "a": dependsOn makes a cycle: a → b → a\./,
    )
  })

  test("are not reconciled if a declared schedule would close a cycle through schedules of another program", async () => {
    const store = memory()
    const theirs = createScheduler({ store })
    await theirs.schedules.create("a", daily)
    await theirs.schedules.create("b", { ...daily, ...on("a") })
    await theirs.schedules.delete("a")
    const ours = createScheduler({
      store,
      tasks: [task],
      schedules: [task.schedule("a", { cron: "@daily", ...on("b") }), task.schedule("c", { cron: "@daily" })],
      logger: silentLogger,
    })

    const { created, refused } = await ours.reconcile()

    assert.deepEqual(created, ["c"])
    assert.deepEqual(refused, [
      {
        id: "a",
        why: "dependsOn makes a cycle: a → b → a. Schedules that depend on each other never fire",
      },
    ])
  })
})
