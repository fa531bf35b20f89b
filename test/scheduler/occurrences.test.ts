import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { createTestScheduler } from "../../src/testing.ts"

const task = defineTask({ name: "send", run: () => "done" })

async function fixture(options: object = { cron: "0 * * * *" }) {
  const test = await createTestScheduler({ tasks: [task], startAt: "2026-03-10T08:30:00Z" })
  const { schedules, runs } = test.scheduler
  await schedules.create("s", { task: "send", ...options })
  /** When runs started, oldest first, as `occurrence>start`. */
  const started = async () =>
    (await runs.list({ state: "succeeded", limit: 1_000 })).items
      .map(({ scheduledFor, startedAt }) => `${time(scheduledFor)}>${time(startedAt)}`)
      .reverse()
  return { test, schedules, runs, started }
}

const time = (date: Date | null) => date?.toISOString().slice(11, 16) ?? "-"
const on = (hour: string) => `2026-03-10T${hour}:00Z`

describe("reschedule", () => {
  test("to an earlier time adds one occurrence, and the timetable continues unchanged", async () => {
    const { test, schedules, started } = await fixture()

    const view = await schedules.reschedule("s", on("08:45"), { by: "ada" })
    await test.advance("2h")

    assert.equal(time(view.nextRunAt), "08:45")
    assert.deepEqual(await started(), ["08:45>08:45", "09:00>09:00", "10:00>10:00"])
  })

  test("to a later time records the occurrences passed over as one record", async () => {
    const { test, schedules, started } = await fixture()

    await schedules.reschedule("s", on("11:30"), { reason: "maintenance" })
    await test.advance("4h")

    assert.deepEqual(await started(), ["11:30>11:30", "12:00>12:00"])
    const { items: entries } = await schedules.occurrences("s")
    const skipped = entries.filter(({ outcome }) => outcome === "skipped")
    assert.deepEqual(
      skipped.map(({ reason, count, message, from }) => [reason, count, message, time(from)]),
      [["operator", 3, "maintenance", "09:00"]],
    )
  })

  test("to the past is refused", async () => {
    const { schedules } = await fixture()

    await assert.rejects(schedules.reschedule("s", on("08:00")), {
      code: "BELFRY_OCCURRENCE_INVALID",
      message: /"s" can't be rescheduled to 2026-03-10T08:00:00Z: that is in the past/,
    })
    await assert.rejects(schedules.reschedule("s", "tomorrow"), { code: "BELFRY_INSTANT_INVALID" })
  })
})

describe("skip, move and restore one occurrence", () => {
  test("skip takes the next occurrence by default, and the ledger has the reason", async () => {
    const { test, schedules, started } = await fixture()

    await schedules.skip("s")
    await schedules.skip("s", on("11:00"), { reason: "holiday", by: "ada" })
    await test.advance("3h30m")

    assert.deepEqual(await started(), ["10:00>10:00", "12:00>12:00"])
    const { items: entries } = await schedules.occurrences("s")
    assert.deepEqual(
      entries.map(({ scheduledFor, outcome, reason, message }) => [
        time(scheduledFor),
        outcome,
        reason,
        message,
      ]),
      [
        ["12:00", "succeeded", null, null],
        ["11:00", "skipped", "operator", "holiday"],
        ["10:00", "succeeded", null, null],
        ["09:00", "skipped", "operator", null],
      ],
    )
  })

  test("a moved occurrence starts at its new time and keeps its scheduledFor", async () => {
    const { test, schedules, started } = await fixture()

    const view = await schedules.move("s", on("09:00"), on("09:20"))
    await test.advance("2h")

    assert.deepEqual(
      view.overrides.map(({ scheduledFor, dueAt }) => [time(scheduledFor), time(dueAt)]),
      [["09:00", "09:20"]],
    )
    assert.deepEqual(await started(), ["09:00>09:20", "10:00>10:00"])
    assert.deepEqual((await schedules.get("s"))?.overrides, [])
  })

  test("a move past a neighbour is refused, and the error has the bounds", async () => {
    const { schedules } = await fixture()

    await assert.rejects(schedules.move("s", on("09:00"), on("10:20")), {
      code: "BELFRY_OCCURRENCE_INVALID",
      message: /between its neighbours \(2026-03-10T08:00:00Z and 2026-03-10T10:00:00Z\)/,
    })
  })

  test("a skipped or moved occurrence can be restored", async () => {
    const { test, schedules, started } = await fixture()
    await schedules.skip("s", on("09:00"))
    await schedules.move("s", on("10:00"), on("10:30"))

    await schedules.restore("s", on("09:00"))
    await schedules.restore("s", on("10:00"))
    await schedules.restore("s", on("11:00"))
    await test.advance("2h")

    assert.deepEqual(await started(), ["09:00>09:00", "10:00>10:00"])
  })

  test("an instant that is not a future occurrence is refused, and the error has the next one", async () => {
    const { schedules } = await fixture()

    await assert.rejects(schedules.skip("s", on("09:30")), {
      code: "BELFRY_OCCURRENCE_INVALID",
      message:
        'Schedule "s" has no occurrence to come at 2026-03-10T09:30:00Z. The next is at 2026-03-10T10:00:00Z.',
    })
  })
})

describe("preview", () => {
  const previewOf = async (options: object, count = 5) => {
    const { test, schedules, runs } = await fixture(options)
    const shown = async () => (await schedules.preview("s", count)).map(({ dueAt }) => dueAt.toISOString())
    return { test, schedules, runs, shown }
  }

  test("shows exactly the runs that will start, including jitter and daylight saving", async () => {
    const { test, shown, runs } = await previewOf(
      {
        triggers: [{ cron: "30 2 * * *" }, { every: "9h" }],
        timezone: "Europe/Paris",
        jitter: "20m",
      },
      80,
    )
    const expected = await shown()

    await test.advance("30d")

    const started = (await runs.list({ limit: 1_000 })).items
      .map(({ startedAt }) => startedAt!.toISOString())
      .reverse()
    assert.equal(expected.length, 80)
    assert.deepEqual(started.slice(0, 80), expected)
  })

  test("ends with the last run of the schedule", async () => {
    const { test, shown } = await previewOf({ cron: "0 * * * *", maxRuns: 3 })
    assert.equal((await shown()).length, 3)

    await test.advance("2h")
    assert.deepEqual(await shown(), ["2026-03-10T11:00:00.000Z"])

    await test.advance("2h")
    assert.deepEqual(await shown(), [])
  })

  test("includes an occurrence exactly one spacing after the previous", async () => {
    const { shown } = await previewOf({ cron: "0 * * * *", spacing: "2h", maxRuns: 2 })

    assert.deepEqual(await shown(), ["2026-03-10T09:00:00.000Z", "2026-03-10T11:00:00.000Z"])
  })

  test("omits occurrences within the spacing, and marks skipped ones as skipped", async () => {
    const { test, schedules, runs } = await previewOf({ cron: "*/10 * * * *", spacing: "25m" })
    await schedules.skip("s", on("09:10"))

    const shown = await schedules.preview("s", 4)
    await test.advance("3h")

    assert.deepEqual(
      shown.map(({ scheduledFor, isSkipped }) => `${time(scheduledFor)}${isSkipped ? " skipped" : ""}`),
      ["08:40", "09:10 skipped", "09:20", "09:50"],
    )
    const started = (await runs.list({ state: "succeeded" })).items
      .map(({ scheduledFor }) => time(scheduledFor))
      .reverse()
    assert.deepEqual(started.slice(0, 3), ["08:40", "09:20", "09:50"])
  })

  test("of a paused schedule begins now, or at the end of the pause", async () => {
    const { test, schedules, shown } = await previewOf({ cron: "0 * * * *" }, 1)
    await schedules.pause("s")
    await test.advance("5h")
    assert.deepEqual(await shown(), ["2026-03-10T14:00:00.000Z"])

    await schedules.pause("s", { until: on("18:00") })
    assert.deepEqual(await shown(), ["2026-03-10T18:00:00.000Z"])
  })

  test("of a schedule that no process fires begins now, not with overdue occurrences", async () => {
    const test = await createTestScheduler({ startAt: "2026-03-10T08:30:00Z" })
    const { schedules } = test.scheduler
    await schedules.create("s", { task: "send", cron: "0 * * * *" })

    await test.advance("10h")

    assert.equal(time((await schedules.preview("s", 1))[0]!.dueAt), "19:00")
  })
})

describe("the ledger", () => {
  test("has the occurrences, newest first, with the outcome and the number that each entry stands for", async () => {
    const away = await createTestScheduler({ startAt: "2026-03-10T08:30:00Z" })
    const { schedules } = away.scheduler
    await schedules.create("s", { task: "send", cron: "0 * * * *" })
    await away.advance("4h")
    await schedules.update("s", { description: "settles what is owed" }, { ifRevision: 1 })

    const { items: entries, next } = await schedules.occurrences("s")

    assert.deepEqual(
      entries.map(({ scheduledFor, outcome, reason, count, standsFor, triggeredBy }) => [
        ...[time(scheduledFor), outcome, reason, count, standsFor, triggeredBy],
      ]),
      [
        ["12:00", "pending", null, 1, 4, "catchup"],
        ["11:00", "skipped", "coalesced", 3, 0, "schedule"],
      ],
    )
    assert.equal(next, null)
  })

  test("of an unknown schedule is refused; of a deleted one it can be read", async () => {
    const { test, schedules } = await fixture()
    await test.advance("1h")
    await schedules.delete("s")

    await assert.rejects(async () => await schedules.occurrences("nope"), {
      code: "BELFRY_SCHEDULE_NOT_FOUND",
      message: 'There is no schedule "nope".',
    })
    assert.equal((await schedules.occurrences("s")).items.length, 1)
    assert.deepEqual((await schedules.occurrences("s", { outcome: "failed" })).items, [])
  })

  test("of a schedule without occurrences is empty, also of a local one", async () => {
    const local = task.schedule("local", { cron: "0 * * * *", local: true })
    const test = await createTestScheduler({ schedules: [local], startAt: "2026-03-10T08:30:00Z" })
    const { schedules } = test.scheduler
    await schedules.create("stored", { task: "send", cron: "0 * * * *" })

    for (const id of ["local", "stored"]) assert.deepEqual((await schedules.occurrences(id)).items, [])
  })

  test("is read page by page", async () => {
    const { test, schedules } = await fixture({ cron: "* * * * *" })
    await test.advance("25m")
    const seen: string[] = []

    let cursor: string | null | undefined
    do {
      const page = await schedules.occurrences("s", { limit: 10, ...(cursor ? { cursor } : {}) })
      seen.push(...page.items.map(({ runId }) => runId))
      cursor = page.next
    } while (cursor !== null)

    assert.equal(seen.length, 25)
    assert.equal(new Set(seen).size, 25)
  })
})
