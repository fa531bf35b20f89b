import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask, silentLogger } from "../../src/index.ts"
import { collectedLog } from "../support/collected-log.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet, taking } from "../support/fleet.ts"
import { slowStore } from "../support/slow-store.ts"

test("several processes with the same local schedule fire each occurrence once", async () => {
  await using fleet = new Fleet("2026-01-01T00:00:13Z")
  const performed: string[] = []
  const task = defineTask({ name: "task", run: ({ run }) => void performed.push(run.id) })
  const schedules = [
    task.schedule("cron", { cron: "* * * * *", local: true }),
    task.schedule("every", { every: "7m", local: true }),
  ]
  const store = slowStore(fleet.store, fleet.clock)
  for (let index = 0; index < 4; index++) {
    await fleet.started({ store, tasks: [task], schedules })
    await fleet.advance("5s")
  }

  await fleet.advance("1h")

  assert.equal(performed.length, 60 + 8)
  assert.equal(new Set(performed).size, performed.length)
})

test("a local schedule is never stored", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "task", run: () => undefined })
  const node = await fleet.started({
    tasks: [task],
    schedules: [task.schedule("local", { every: "1m", local: true })],
  })

  await fleet.advance("10m")

  assert.deepEqual((await node.schedules.list()).items, [])
  assert.equal((await node.runs.list()).items.length, 10)
})

test("a local interval counts from the epoch, so processes started at different times agree", async () => {
  await using fleet = new Fleet("2026-01-01T00:00:13.371Z")
  const task = defineTask({ name: "task", run: () => undefined })
  const schedules = [task.schedule("s", { every: "10m", local: true })]
  await fleet.started({ tasks: [task], schedules })
  await fleet.advance("3m")
  await fleet.started({ tasks: [task], schedules })

  await fleet.advance("30m")

  assert.deepEqual(
    (await fleet.runs()).map((run) => run.scheduledFor?.toISOString().slice(11, 19)),
    ["00:10:00", "00:20:00", "00:30:00"],
  )
})

test("a local schedule with removeWhenFinished causes no more reads after its last occurrence", async () => {
  await using fleet = new Fleet()
  const { store, count } = faultyStore(fleet.store)
  const task = defineTask({ name: "task", run: () => undefined })
  const once = task.schedule("s", { every: "1m", maxRuns: 1, removeWhenFinished: true, local: true })
  await fleet.started({ store, tasks: [task], schedules: [once] })
  await fleet.advance("2m")
  const before = count("now")

  await fleet.advance("3m")

  assert.ok(count("now") - before < 10, `${count("now") - before} reads in 3 minutes`)
  assert.equal((await fleet.runs()).length, 1)
})

test("a local schedule whose facts can't be read doesn't keep other schedules from firing", async () => {
  await using fleet = new Fleet()
  const performed = new Set<string>()
  const task = defineTask({ name: "task", run: ({ run }) => void performed.add(run.scheduleId!) })
  const store = {
    ...fleet.store,
    findRuns: async (...asked: Parameters<typeof fleet.store.findRuns>) => {
      if (asked[0].concurrencyKey?.startsWith("schedule:bad")) throw new Error("too large to read")
      return fleet.store.findRuns(...asked)
    },
  }
  const options = { cron: "* * * * *", local: true, overlap: "queue" } as const
  const schedules = ["bad-1", "bad-2", "good"].map((id) => task.schedule(id, options))
  await fleet.started({ store, tasks: [task], schedules, logger: silentLogger })

  await fleet.advance("2m")

  assert.deepEqual([...performed], ["good"])
})

test("a skipped occurrence of a local schedule has one record, whatever the number of processes", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "task", run: () => taking(fleet.clock, "90s") })
  const schedules = [task.schedule("s", { cron: "* * * * *", local: true })]
  for (let index = 0; index < 3; index++) await fleet.started({ tasks: [task], schedules })

  await fleet.advance("4m30s")

  assert.deepEqual(
    (await fleet.runs()).map(({ state, reason }) => [state, reason]),
    [
      ["succeeded", null],
      ["skipped", "overlap"],
      ["succeeded", null],
      ["skipped", "overlap"],
    ],
  )
})

test("the firing of a local schedule is logged like that of a stored one", async () => {
  await using fleet = new Fleet()
  const { logger, lines } = collectedLog()
  const task = defineTask({ name: "task", run: () => undefined })
  const schedules = [task.schedule("s", { every: "1m", priority: "high", local: true })]
  await fleet.started({ tasks: [task], schedules, logger })

  await fleet.advance("1m")

  const { level, ...line } = lines.find(({ message }) => message === "Fired")!
  assert.equal(level, "info")
  assert.deepEqual(line, {
    component: "local-firing",
    scheduleId: "s",
    task: "task",
    runId: "s@2026-01-01T00:01:00Z",
    priority: 10,
    nextRunAt: "2026-01-01T00:02:00.000Z",
    message: "Fired",
  })
})

test("a local schedule obeys its dependencies, its queue limit and overlap replace", async () => {
  await using fleet = new Fleet()
  const quick = defineTask({ name: "quick", run: () => "done" })
  const slow = defineTask({ name: "slow", run: () => taking(fleet.clock, "1h") })
  const schedules = [
    quick.schedule("first", { cron: "* * * * *", local: true }),
    quick.schedule("then", {
      cron: "30 * * * * *",
      local: true,
      dependsOn: [{ schedule: "first", within: "5m" }],
    }),
    slow.schedule("queue", { cron: "* * * * *", local: true, overlap: { policy: "queue", limit: 2 } }),
    slow.schedule("replace", { cron: "* * * * *", local: true, overlap: "replace" }),
  ]
  const store = slowStore(fleet.store, fleet.clock)
  for (let index = 0; index < 3; index++) await fleet.started({ store, tasks: [quick, slow], schedules })

  await fleet.advance("6m10s")

  const outcomes = async (schedule: string) => {
    const runs = (await fleet.runs()).filter(({ scheduleId }) => scheduleId === schedule)
    return runs.map(({ state, reason }) => (state === "skipped" ? reason : state))
  }
  assert.deepEqual(await outcomes("then"), ["dependency", ...Array(5).fill("succeeded")])
  assert.deepEqual(await outcomes("queue"), ["running", "pending", "pending", ...Array(3).fill("capacity")])
  assert.deepEqual(await outcomes("replace"), [...Array(5).fill("cancelled"), "running"])
})
