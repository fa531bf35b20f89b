import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { createTestScheduler } from "../../src/testing.ts"

const task = defineTask({ name: "send", run: () => "done" })

async function fixture() {
  const test = await createTestScheduler({ tasks: [task], startAt: "2026-03-10T08:30:00Z" })
  const { schedules, runs } = test.scheduler
  return { test, schedules, runs }
}

describe("create, get, list, delete", () => {
  test("a new schedule is planned from now, and nothing fires", async () => {
    const { schedules, runs } = await fixture()

    const created = await schedules.create("hourly", { task, cron: "0 * * * *", tags: ["mail"] })

    assert.equal(created.nextRunAt?.toISOString(), "2026-03-10T09:00:00.000Z")
    assert.deepEqual([created.revision, created.runCount, created.lastRunAt], [1, 0, null])
    assert.deepEqual([created.when, created.timezone, created.task], ["0 * * * *", "UTC", "send"])
    assert.deepEqual([created.owner, created.isOverridden], [null, false])
    assert.deepEqual(await schedules.get("hourly"), created)
    assert.deepEqual((await runs.list()).items, [])
  })

  test("startImmediately fires once at creation, then by the timetable", async () => {
    const { test, schedules, runs } = await fixture()

    await schedules.create("hourly", { task, cron: "0 * * * *", startImmediately: true })
    await test.advance("30m")

    assert.deepEqual(
      (await runs.list()).items.map(({ id, state }) => [id, state]),
      [
        ["hourly@2026-03-10T09:00:00Z", "succeeded"],
        ["hourly@2026-03-10T08:30:00Z", "succeeded"],
      ],
    )
  })

  test("an id that is in use is refused", async () => {
    const { schedules } = await fixture()
    await schedules.create("hourly", { task, every: "1h" })

    await assert.rejects(schedules.create("hourly", { task, every: "1h" }), {
      code: "BELFRY_SCHEDULE_EXISTS",
      message: 'Schedule "hourly" already exists.',
      status: 409,
    })
  })

  const REFUSED: readonly (readonly [string, object, string, RegExp])[] = [
    ["an empty id", { id: "" }, "BELFRY_SCHEDULE_INVALID", /id is ""; use 1 to 200/],
    ["an id with a space", { id: "a b" }, "BELFRY_SCHEDULE_INVALID", /id is "a b"/],
    ["no trigger", { cron: undefined }, "BELFRY_SCHEDULE_INVALID", /exactly one of cron.*found none/],
    ["two triggers", { every: "1h" }, "BELFRY_SCHEDULE_INVALID", /found cron and every/],
    ["a bad cron", { cron: "0 25 * * *" }, "BELFRY_CRON_FIELD_RANGE", /Hour "25" is out of range 0-23/],
    ["a cron that never matches", { cron: "0 0 30 2 *" }, "BELFRY_CRON_NEVER", /./],
    ["an unknown zone", { timezone: "Mars/Base" }, "BELFRY_TIMEZONE_UNKNOWN", /Mars\/Base/],
    ["an empty task", { task: "" }, "BELFRY_SCHEDULE_INVALID", /task is ""/],
    ["a payload JSON can't hold", { payload: { f: () => 1 } }, "BELFRY_PAYLOAD_INVALID", /f is a function/],
    [
      "a payload over 1 MiB",
      { payload: "x".repeat(1_100_000) },
      "BELFRY_PAYLOAD_TOO_LARGE",
      /at most 1048576/,
    ],
    [
      "catch-up all with skip",
      { catchUp: "all" },
      "BELFRY_SCHEDULE_INVALID",
      /needs overlap "queue" or "allow"/,
    ],
    [
      "a dependency on itself",
      { dependsOn: [{ schedule: "s", within: "1h" }] },
      "BELFRY_SCHEDULE_INVALID",
      /itself/,
    ],
    [
      "an end before the start",
      { startsAt: 2e12, endsAt: 1e12 },
      "BELFRY_SCHEDULE_INVALID",
      /endsAt is before/,
    ],
    ["a bad priority", { priority: "urgent" }, "BELFRY_SCHEDULE_INVALID", /"urgent"/],
    [
      "a bad duration",
      { jitter: "soon" },
      "BELFRY_DURATION_INVALID",
      /jitter is "soon", which is not a duration/,
    ],
  ]
  for (const [name, { id = "s", ...options }, code, message] of REFUSED as readonly (readonly [
    string,
    { id?: string },
    string,
    RegExp,
  ])[]) {
    test(`${name} is refused with a message that has the value`, async () => {
      const { schedules } = await fixture()

      const creating = schedules.create(id, { task: "anything", cron: "0 * * * *", ...options })

      await assert.rejects(creating, { code, message })
      assert.deepEqual((await schedules.list()).items, [])
    })
  }

  test("list returns schedules by id, filtered, page by page", async () => {
    const { schedules } = await fixture()
    for (const id of ["d", "b", "a", "c"])
      await schedules.create(id, {
        task: id < "c" ? "send" : "other",
        every: "1h",
        tags: id === "d" ? ["x"] : [],
      })
    const ids = async (filter?: Parameters<typeof schedules.list>[0]) =>
      (await schedules.list(filter)).items.map(({ id }) => id)

    assert.deepEqual(await ids(), ["a", "b", "c", "d"])
    assert.deepEqual(await ids({ limit: 2 }), ["a", "b"])
    const { next } = await schedules.list({ limit: 2 })
    assert.deepEqual(await ids({ cursor: next!, limit: 2 }), ["c", "d"])
    assert.deepEqual(await ids({ task: "send" }), ["a", "b"])
    assert.deepEqual(await ids({ tag: "x" }), ["d"])
    assert.deepEqual(await ids({ owner: "nobody" }), [])
  })

  test("a schedule can be created paused, in one write", async () => {
    const { test, schedules } = await fixture()
    const paused = { reason: "not yet", by: "ada", until: "2030-01-01T00:00:00Z" }
    const plain = await schedules.create("a", { task: "send", every: "1h", paused: true })
    const view = await schedules.create("b", { task: "send", every: "1h", startImmediately: true, paused })
    await schedules.create("c", { task: "send", every: "1h", paused: false })
    await test.advance("90m")

    assert.deepEqual([plain.paused?.reason, plain.nextRunAt, plain.revision], [null, null, 1])
    assert.deepEqual([view.paused?.reason, view.paused?.until?.getUTCFullYear()], ["not yet", 2030])
    const counts = await Promise.all(["a", "b", "c"].map(async (id) => (await schedules.get(id))!.runCount))
    assert.deepEqual(counts, [0, 0, 1])
  })

  test("list filters by state, text and beginning of the id, and sorts by next run", async () => {
    const { schedules } = await fixture()
    await schedules.create("app-a", { task: "send", every: "2h", description: "Sends the Report" })
    await schedules.create("app-b", { task: "send", every: "1h" })
    await schedules.create("other", { task: "report", every: "3h" })
    await schedules.pause("app-b")
    const ids = async (filter?: Parameters<typeof schedules.list>[0]) =>
      (await schedules.list(filter)).items.map(({ id }) => id)

    assert.deepEqual(await ids({ state: "paused" }), ["app-b"])
    assert.deepEqual(await ids({ state: ["new", "ok"] }), ["app-a", "other"])
    assert.deepEqual(await ids({ text: "REPORT" }), ["app-a", "other"])
    assert.deepEqual(await ids({ idPrefix: "app-" }), ["app-a", "app-b"])
    assert.deepEqual(await ids({ order: "nextRunAt" }), ["app-a", "other", "app-b"])
    const { next } = await schedules.list({ order: "nextRunAt", limit: 2 })
    assert.deepEqual(await ids({ order: "nextRunAt", cursor: next! }), ["app-b"])
    assert.equal((await schedules.get("app-b"))!.state, "paused")
    const counts = await schedules.count({ idPrefix: "app-" })
    assert.deepEqual([counts.new, counts.paused, counts.ok], [1, 1, 0])
  })

  test("list iterates over all pages", async () => {
    const { schedules } = await fixture()
    for (let count = 0; count < 1_001; count++) await schedules.create(`s${count}`, { task, every: "1h" })

    const ids = new Set<string>()
    for await (const { id } of schedules.list({ limit: 400 })) ids.add(id)
    assert.equal(ids.size, 1_001)
    assert.equal((await schedules.list({ limit: 100 })).items.length, 100)
  })

  test("delete returns whether the schedule existed, and keeps its runs", async () => {
    const { test, schedules, runs } = await fixture()
    await schedules.create("hourly", { task, cron: "0 * * * *" })
    await test.advance("1h")

    assert.equal(await schedules.delete("hourly"), true)
    assert.equal(await schedules.delete("hourly"), false)
    await test.advance("5h")

    assert.equal(await schedules.get("hourly"), null)
    assert.equal((await runs.list()).items.length, 1)
  })

  test("steps on an unknown schedule are refused", async () => {
    const { schedules } = await fixture()
    const missing = { code: "BELFRY_SCHEDULE_NOT_FOUND", message: 'There is no schedule "x".', status: 404 }

    assert.equal(await schedules.get("x"), null)
    await assert.rejects(schedules.pause("x"), missing)
    await assert.rejects(schedules.resume("x"), missing)
    await assert.rejects(schedules.trigger("x"), missing)
    await assert.rejects(schedules.skip("x"), missing)
    await assert.rejects(schedules.preview("x"), missing)
    await assert.rejects(schedules.reschedule("x", 2e12), missing)
    await assert.rejects(schedules.update("x", {}, { ifRevision: 1 }), missing)
    await assert.rejects(schedules.planBackfill("x", { from: 0, until: 1 }), missing)
  })
})

describe("pause and resume", () => {
  test("a paused schedule fires nothing, the pause is one record, and resume continues from now", async () => {
    const { test, schedules, runs } = await fixture()
    await schedules.create("s", { task, cron: "0 * * * *" })

    const paused = await schedules.pause("s", { reason: "month end", by: "ada" })
    assert.deepEqual([paused.paused?.reason, paused.paused?.by, paused.nextRunAt], ["month end", "ada", null])
    await test.advance("5h")
    const resumed = await schedules.resume("s")
    assert.deepEqual([resumed.paused, resumed.nextRunAt?.toISOString()], [null, "2026-03-10T14:00:00.000Z"])
    await test.advance("1h")

    const { items: entries } = await schedules.occurrences("s")
    assert.deepEqual(
      entries.map(({ outcome, reason, count, message }) => [outcome, reason, count, message]),
      [
        ["succeeded", null, 1, null],
        ["skipped", "paused", 5, "Paused by ada: month end"],
      ],
    )
    assert.equal((await runs.list({ state: "succeeded" })).items.length, 1)
  })

  test("a pause with an end resumes automatically", async () => {
    const { test, schedules, runs } = await fixture()
    await schedules.create("s", { task, cron: "0 * * * *" })

    await schedules.pause("s", { until: "2026-03-10T11:00:00Z" })
    await test.advance("4h")

    const ids = (await runs.list({ state: "succeeded" })).items.map(({ id }) => id)
    assert.deepEqual(ids, ["s@2026-03-10T12:00:00Z", "s@2026-03-10T11:00:00Z"])
    assert.equal((await schedules.get("s"))?.paused, null)
  })

  test("the next run of a schedule paused until a time is its first occurrence after the pause", async () => {
    const { test, schedules } = await fixture()
    await schedules.create("s", { task, cron: "0 * * * *" })
    await schedules.create("limited", { task, cron: "0 * * * *", endsAt: "2026-03-10T12:00:00Z" })

    const paused = await schedules.pause("s", { until: "2026-03-10T11:20:00Z" })
    const over = await schedules.pause("limited", { until: "2026-03-10T12:30:00Z" })

    assert.equal(paused.nextRunAt?.toISOString(), "2026-03-10T12:00:00.000Z")
    assert.equal(over.nextRunAt, null)
    for (const step of ["30m", "2h"] as const) {
      await test.advance(step)
      const [next] = await schedules.preview("s", 1)
      assert.deepEqual((await schedules.get("s"))?.nextRunAt, next!.dueAt)
    }
  })

  test("the next run after a pause isn't an occurrence that an operator skipped", async () => {
    const { schedules } = await fixture()
    await schedules.create("s", { task, cron: "0 * * * *" })

    await schedules.skip("s", "2026-03-10T12:00:00Z")
    const paused = await schedules.pause("s", { until: "2026-03-10T11:20:00Z" })

    assert.equal(paused.nextRunAt?.toISOString(), "2026-03-10T13:00:00.000Z")
  })

  test("a pause that ends in the past is refused", async () => {
    const { schedules } = await fixture()
    await schedules.create("s", { task, cron: "0 * * * *" })

    await assert.rejects(schedules.pause("s", { until: "2026-03-10T08:00:00Z" }), {
      code: "BELFRY_SCHEDULE_INVALID",
      message: /not in the future/,
    })
  })

  test("resume of a schedule that isn't paused changes nothing", async () => {
    const { schedules } = await fixture()
    const created = await schedules.create("s", { task, cron: "0 * * * *" })

    assert.deepEqual(await schedules.resume("s"), created)
  })
})

test("a cursor is refused by the same list in another order, and by another list", async () => {
  const { test, schedules, runs } = await fixture()
  for (const id of ["a", "b", "c"]) await schedules.create(id, { task, every: "1h" })
  const { next } = await schedules.list({ limit: 1, order: "id" })

  const byNextRun = () => schedules.list({ limit: 1, order: "nextRunAt", cursor: next! })

  await assert.rejects(async () => byNextRun(), /is not the `next` of a page of this list/)
  await assert.rejects(async () => runs.list({ cursor: next! }), /is not the `next` of a page of this list/)
  await test.stop()
})
