import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask, type SchedulerOptions } from "../../src/index.ts"
import { collectedLog } from "../support/collected-log.ts"
import { Fleet } from "../support/fleet.ts"
import { racingStore } from "../support/racing-store.ts"

const task = defineTask({ name: "send", run: () => "done" })
const hourly = task.schedule("hourly", { cron: "0 * * * *" })
const daily = task.schedule("daily", { cron: "0 12 * * *" })

function app(fleet: Fleet, options: Partial<SchedulerOptions> = {}) {
  return fleet.node({ tasks: [task], schedules: [hourly, daily], owner: "billing", ...options })
}

const NOTHING = { created: [], updated: [], unchanged: [], pruned: [], refused: [] }

test("declared schedules are created at start", async () => {
  await using fleet = new Fleet()
  const node = app(fleet)

  await node.start()

  const stored = (await node.schedules.list()).items
  assert.deepEqual(
    stored.map(({ id, owner, isOverridden }) => [id, owner, isOverridden]),
    [
      ["daily", "billing", false],
      ["hourly", "billing", false],
    ],
  )
})

test("declaring the same schedules again changes nothing and keeps the next occurrence", async () => {
  await using fleet = new Fleet()
  await app(fleet).reconcile()
  const interval = task.schedule("interval", { every: "50m" })
  await app(fleet, { schedules: [hourly, daily, interval] }).reconcile()
  await fleet.advance("17m")
  const node = app(fleet, { schedules: [hourly, daily, interval] })
  const before = (await node.schedules.list()).items

  const report = await node.reconcile()

  assert.deepEqual(report, { ...NOTHING, unchanged: ["hourly", "daily", "interval"] })
  assert.deepEqual((await node.schedules.list()).items, before)
})

test("a changed declaration updates only the changed fields", async () => {
  await using fleet = new Fleet()
  await app(fleet).reconcile()
  const changed = [hourly, task.schedule("daily", { cron: "0 13 * * *", priority: "high" })]
  const node = app(fleet, { schedules: changed })

  const report = await node.reconcile()

  assert.deepEqual(report.updated, [{ id: "daily", fields: ["triggers", "priority"] }])
  const stored = await node.schedules.get("daily")
  assert.deepEqual([stored?.when, stored?.priority, stored?.revision], ["0 13 * * *", 10, 2])
  assert.equal(stored?.nextRunAt?.toISOString(), "2026-01-01T13:00:00.000Z")
})

test("schedules that are no longer declared are pruned if an owner is given, but not those of other owners", async () => {
  await using fleet = new Fleet()
  await app(fleet).reconcile()
  await app(fleet, { owner: "other", schedules: [task.schedule("theirs", { every: "1h" })] }).reconcile()
  const node = app(fleet, { schedules: [hourly] })
  await node.schedules.create("by-hand", { task, every: "1h" })

  const report = await node.reconcile()

  assert.deepEqual(report, { ...NOTHING, unchanged: ["hourly"], pruned: ["daily"] })
  assert.deepEqual(
    (await node.schedules.list()).items.map(({ id }) => id),
    ["by-hand", "hourly", "theirs"],
  )
})

test("without an owner, or with prune false, nothing is pruned", async () => {
  await using fleet = new Fleet()
  await fleet.node({ tasks: [task], schedules: [hourly, daily] }).reconcile()
  assert.deepEqual((await fleet.node({ tasks: [task], schedules: [hourly] }).reconcile()).pruned, [])

  await app(fleet, { schedules: [task.schedule("mine", { every: "1h" })] }).reconcile()
  assert.deepEqual((await app(fleet, { schedules: [], prune: false }).reconcile()).pruned, [])
})

test("a dry run reports what would happen and changes nothing", async () => {
  await using fleet = new Fleet()
  await app(fleet).reconcile()
  const schedules = [task.schedule("hourly", { cron: "5 * * * *" }), task.schedule("new", { every: "1h" })]
  const node = app(fleet, { schedules })
  const before = (await node.schedules.list()).items

  const report = await node.reconcile({ dryRun: true })

  assert.deepEqual(report, {
    ...NOTHING,
    created: ["new"],
    updated: [{ id: "hourly", fields: ["triggers"] }],
    pruned: ["daily"],
  })
  assert.deepEqual((await node.schedules.list()).items, before)
})

test("a schedule of another owner is not changed, and a warning is logged", async () => {
  await using fleet = new Fleet()
  const { logger, lines } = collectedLog()
  await app(fleet, { owner: "other", schedules: [hourly] }).reconcile()
  await fleet.node().schedules.create("daily", { task: "send", every: "1h" })

  const report = await app(fleet, { logger }).reconcile()

  assert.deepEqual(report.refused, [
    {
      id: "hourly",
      why: 'a schedule with this id belongs to "other"; delete it, and the next start creates it again, or declare it for that owner',
    },
    {
      id: "daily",
      why: "a schedule with this id was made by hand; delete it, and the next start creates it again",
    },
  ])
  assert.equal(lines.filter(({ message }) => message === "Declared schedule left alone").length, 2)
})

test("an older release doesn't change the schedules of a newer one, and a newer one keeps unchanged schedules", async () => {
  await using fleet = new Fleet()
  await app(fleet, { release: 1 }).reconcile()
  await fleet.advance("10m")

  const newer = await app(fleet, { release: 2 }).reconcile()
  assert.deepEqual(newer, { ...NOTHING, unchanged: ["hourly", "daily"] })

  const older = await app(fleet, {
    release: 1,
    schedules: [task.schedule("hourly", { every: "3h" })],
  }).reconcile()
  assert.deepEqual(older.refused, [
    { id: "hourly", why: 'release 2 of "billing" is already stored; this is release 1' },
  ])
  assert.equal((await fleet.node().schedules.get("hourly"))?.when, "0 * * * *")
  assert.notEqual(await fleet.node().schedules.get("daily"), null)
})

test("an operator's change to a declared schedule is kept and shown as overridden until the declaration changes", async () => {
  await using fleet = new Fleet()
  await app(fleet).reconcile()
  const operator = fleet.node()
  await operator.schedules.update("hourly", { cron: "30 * * * *" }, { ifRevision: 1 })
  await operator.schedules.pause("daily", { by: "ada" })

  const same = await app(fleet).reconcile()
  assert.deepEqual(same.unchanged, ["hourly", "daily"])
  const kept = await operator.schedules.get("hourly")
  assert.deepEqual([kept?.when, kept?.isOverridden], ["30 * * * *", true])
  assert.equal((await operator.schedules.get("daily"))?.paused?.by, "ada")

  const changed = [task.schedule("hourly", { cron: "10 * * * *" }), daily]
  await app(fleet, { schedules: changed }).reconcile()
  const replaced = await operator.schedules.get("hourly")
  assert.deepEqual([replaced?.when, replaced?.isOverridden], ["10 * * * *", false])
})

test("a schedule is pruned even if it fires during the reconciliation", async () => {
  await using fleet = new Fleet()
  await app(fleet).reconcile()
  const racing = racingStore(fleet.store, "fire", () => fleet.node().schedules.skip("daily"))

  const report = await app(fleet, { store: racing, schedules: [hourly] }).reconcile()

  assert.deepEqual(report.pruned, ["daily"])
  assert.equal(await fleet.node().schedules.get("daily"), null)
})

test("five processes that start at once create each schedule once", async () => {
  await using fleet = new Fleet()
  const nodes = Array.from({ length: 5 }, () => app(fleet))

  await Promise.all(nodes.map((node) => node.start()))
  await fleet.advance("1h")

  assert.equal((await fleet.node().schedules.list()).items.length, 2)
  assert.equal((await fleet.runs()).length, 1)
})

test("createScheduler throws on mistakes in declared schedules", () => {
  const fleet = new Fleet()

  assert.throws(() => app(fleet, { schedules: [hourly, hourly] }), {
    code: "BELFRY_SCHEDULE_INVALID",
    message: 'Schedule id "hourly" is declared twice.',
  })
  const another = defineTask({ name: "send", run: () => undefined })
  assert.throws(() => app(fleet, { schedules: [another.schedule("o", { every: "1h" })] }), {
    code: "BELFRY_TASK_INVALID",
    message: 'Task "send" is defined twice.',
  })
  assert.throws(() => app(fleet, { schedules: [task.schedule("bad", { cron: "61 * * * *" })] }), {
    code: "BELFRY_CRON_FIELD_RANGE",
  })
  assert.throws(() => app(fleet, { schedules: [task.schedule("a b", { every: "1h" })] }), {
    code: "BELFRY_SCHEDULE_INVALID",
  })
  assert.throws(() => app(fleet, { tasks: [task, task] }), { message: 'Task "send" is defined twice.' })
})

test("a declared schedule adds its task, and a task with a cron adds its schedule", async () => {
  await using fleet = new Fleet()
  const performed: string[] = []
  const note = (name: string) => () => void performed.push(name)
  const hourly = defineTask({
    name: "hourly",
    cron: "0 * * * *",
    timezone: "Europe/Berlin",
    run: note("hourly"),
  })
  const declared = defineTask({ name: "declared", run: note("declared") })
  const node = await fleet.started({ tasks: [hourly], schedules: [declared.schedule("d", { every: "30m" })] })
  await fleet.advance("61m")

  assert.deepEqual(performed.toSorted(), ["declared", "declared", "hourly"])
  const view = (await node.schedules.get("hourly"))!
  assert.deepEqual([view.when, view.timezone, view.task], ["0 * * * *", "Europe/Berlin", "hourly"])
  assert.throws(() => defineTask({ name: "bad", cron: "61 * * * *", run: () => undefined }), {
    code: "BELFRY_CRON_FIELD_RANGE",
  })
  assert.throws(() => defineTask({ name: "a:b", every: "1h", run: () => undefined }), {
    code: "BELFRY_TASK_INVALID",
  })
})
