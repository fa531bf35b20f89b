import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask, type Hooks } from "../../src/index.ts"
import { collectedLog } from "../support/collected-log.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet, taking } from "../support/fleet.ts"
import { aSchedule } from "../support/records.ts"

const task = defineTask({ name: "send", run: () => "done" })

/** The eight edge cases of ADR-004 (requirement E8). */
describe("the eight edge cases", () => {
  test("without schedules nothing fires and nothing fails", async () => {
    await using fleet = new Fleet()
    const errors: unknown[] = []
    await fleet.started({ tasks: [task], hooks: { error: (error) => void errors.push(error) } })

    await fleet.advance("1d")

    assert.deepEqual(await fleet.runs(), [])
    assert.deepEqual(errors, [])
  })

  test("a disabled schedule never fires, and goes on from the time at which it is enabled", async () => {
    await using fleet = new Fleet()
    const node = await fleet.started({ tasks: [task] })
    const { revision } = await node.schedules.create("s", { task, cron: "0 * * * *", enabled: false })
    await fleet.advance("5h")
    assert.deepEqual(await fleet.runs(), [])

    await node.schedules.update("s", { enabled: true }, { ifRevision: revision })
    await fleet.advance("1h")

    assert.deepEqual(
      (await fleet.runs()).map(({ id }) => id),
      ["s@2026-01-01T06:00:00Z"],
    )
  })

  test("a due schedule fires once, and its last and next run are stored", async () => {
    await using fleet = new Fleet()
    const node = await fleet.started({ tasks: [task] })
    await node.schedules.create("s", { task, cron: "0 * * * *" })

    await fleet.advance("1h")

    const schedule = await node.schedules.get("s")
    assert.deepEqual(
      (await fleet.runs()).map(({ state }) => state),
      ["succeeded"],
    )
    assert.equal(schedule?.nextRunAt?.toISOString(), "2026-01-01T02:00:00.000Z")
    assert.equal(schedule?.lastRunId, "s@2026-01-01T01:00:00Z")
    assert.equal(schedule?.lastRunAt?.toISOString(), "2026-01-01T01:00:00.000Z")
  })

  test("a schedule in the future doesn't fire before its time", async () => {
    await using fleet = new Fleet()
    const node = await fleet.started({ tasks: [task] })
    await node.schedules.create("s", { task, at: "2026-01-01T12:00:00Z" })

    await fleet.advance("11h59m")
    assert.deepEqual(await fleet.runs(), [])

    await fleet.advance("1m")
    assert.equal((await fleet.runs()).length, 1)
  })

  test("a schedule that was never planned gets its next occurrence after now and fires nothing", async () => {
    await using fleet = new Fleet("2026-03-10T10:30:00Z")
    const neverPlanned = aSchedule({}, { coveredUntil: null, nextRunAt: fleet.clock.now() })
    await fleet.store.putSchedule(neverPlanned, null)

    const node = await fleet.started({ tasks: [task] })
    await fleet.advance("1m")

    assert.deepEqual(await fleet.runs(), [])
    assert.equal((await node.schedules.get("report"))?.nextRunAt?.toISOString(), "2026-03-10T11:00:00.000Z")
  })

  test("missed occurrences are caught up by one run, and the schedule goes on from now", async () => {
    await using fleet = new Fleet()
    await fleet.node().schedules.create("s", { task: "send", cron: "0 * * * *" })
    await fleet.advance("9h30m")

    const node = await fleet.started({ tasks: [task] })
    await fleet.advance("1h")

    assert.deepEqual(
      (await node.runs.list({ state: "succeeded" })).items.map(({ id, triggeredBy }) => [id, triggeredBy]),
      [
        ["s@2026-01-01T10:00:00Z", "schedule"],
        ["s@2026-01-01T09:00:00Z", "catchup"],
      ],
    )
  })

  test("a failure of the task is recorded on the run, and the schedule goes on", async () => {
    await using fleet = new Fleet()
    const failing = defineTask({
      name: "send",
      retry: { attempts: 1 },
      run: () => Promise.reject(new Error("no luck")),
    })
    const node = await fleet.started({ tasks: [failing] })
    await node.schedules.create("s", { task: failing, cron: "0 * * * *" })

    await fleet.advance("3h")

    assert.deepEqual(
      (await fleet.runs()).map(({ state }) => state),
      ["failed", "failed", "failed"],
    )
  })

  test("an invalid cron in the store is logged as a warning and shown on its schedule, and other schedules go on", async () => {
    await using fleet = new Fleet("2026-03-10T08:30:00Z")
    const { logger, lines } = collectedLog()
    const bad = aSchedule({}, { triggers: [{ kind: "cron", cron: "61 * * * *", dayMatch: "either" }] })
    await fleet.store.putSchedule(bad, null)
    const node = await fleet.started({ tasks: [task], logger })
    await node.schedules.create("good", { task, cron: "0 * * * *" })

    await fleet.advance("2h")

    assert.equal((await fleet.runs()).length, 2)
    const shown = await node.schedules.get("report")
    assert.match(shown!.lastError!, /61/)
    assert.equal(shown?.nextRunAt, null)
    assert.equal(lines.filter(({ level }) => level === "warn").length, 1)
  })
})

/** Bugs that other schedulers shipped (peers.md 2.9; the number is that of the list) and that an engine can have. */
describe("bugs of other schedulers", () => {
  test("1, 15: a schedule that several processes read as due is performed once per occurrence", async () => {
    await using fleet = new Fleet()
    const events: string[] = []
    const hooks: Hooks = { run: ({ type }) => void events.push(type) }
    const wire = faultyStore(fleet.store)
    const schedules = [task.schedule("s", { cron: "* * * * *" })]
    wire.loseReplies("fire")
    await fleet.started({ store: wire.store, tasks: [task], schedules, hooks })
    await fleet.started({ tasks: [task], schedules, hooks })

    await fleet.advance("30m")

    assert.equal((await fleet.runs()).length, 30)
    assert.equal(events.filter((type) => type === "succeeded").length, 30)
  })

  test("7: the first occurrence ever is caught up if it was missed", async () => {
    await using fleet = new Fleet()
    await fleet.node().schedules.create("yearly", { task: "send", cron: "0 0 2 1 *" })
    await fleet.advance("3d")

    await fleet.started({ tasks: [task] })
    await fleet.advance("1s")

    assert.deepEqual(
      (await fleet.runs()).map(({ id }) => id),
      ["yearly@2026-01-02T00:00:00Z"],
    )
  })

  test("8: a restart repeats nothing, and a daily schedule runs every day whatever the number of restarts", async () => {
    await using fleet = new Fleet()
    const schedules = [task.schedule("daily", { cron: "0 12 * * *" })]
    for (let restart = 0; restart < 57; restart++) {
      const node = await fleet.started({ tasks: [task], schedules })
      await fleet.advance("7h")
      await fleet.until(node.stop())
      await fleet.advance("1h")
    }

    const days = (await fleet.runs()).filter(({ state }) => state === "succeeded")
    assert.equal(days.length, 19)
  })

  test("11: a due time in the past doesn't make the firing loop spin", async () => {
    await using fleet = new Fleet()
    const wire = faultyStore(fleet.store)
    await fleet.node().schedules.create("s", { task: "send", every: "1s" })
    await fleet.advance("1h")

    await fleet.started({ store: wire.store, tasks: [task] })
    await fleet.advance("10s")

    assert.ok(wire.count("dueSchedules") <= 25, `${wire.count("dueSchedules")} reads in ten seconds`)
  })

  test("5: a backfill doesn't delay scheduled runs", async () => {
    await using fleet = new Fleet()
    const slow = defineTask({ name: "send", run: () => taking(fleet.clock, "30s") })
    const node = await fleet.started({ tasks: [slow], concurrency: 2 })
    await node.schedules.create("s", { task: slow, cron: "*/5 * * * *", overlap: "allow" })
    const range = { from: "2025-12-31T00:00:00Z", until: "2025-12-31T23:00:00Z" }
    await node.schedules.backfill(await node.schedules.planBackfill("s", range), { concurrency: 1 })

    await fleet.advance("1h")

    const live = (await node.runs.list({ triggeredBy: "schedule" })).items
    assert.equal(live.length, 12)
    for (const run of live) assert.equal(run.startedAt?.getTime(), run.scheduledFor?.getTime())
    assert.ok((await node.runs.count({ triggeredBy: "backfill" })).succeeded >= 100)
  })
})
