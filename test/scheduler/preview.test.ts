import assert from "node:assert/strict"
import { createScheduler, memory } from "belfry"
import { describe, test } from "vitest"

const times = (occurrences: readonly { scheduledFor: Date }[]) =>
  occurrences.map(({ scheduledFor }) => scheduledFor.toISOString().slice(0, 16))

async function schedulesWith(options: object) {
  const scheduler = createScheduler({ store: memory() })
  await scheduler.schedules.create("s", { task: "t", ...options })
  return scheduler.schedules
}

describe("a preview after a time", () => {
  test("begins with the first occurrence after it, at any distance", async () => {
    const schedules = await schedulesWith({ cron: "0 9 * * *" })

    const after = await schedules.preview("s", 2, { after: "2999-03-01T09:00:00Z" })

    assert.deepEqual(times(after), ["2999-03-02T09:00", "2999-03-03T09:00"])
  })

  test("in the past equals the preview without a time", async () => {
    const schedules = await schedulesWith({ cron: "0 9 * * *" })

    assert.deepEqual(await schedules.preview("s", 3, { after: 0 }), await schedules.preview("s", 3))
  })

  test("counts the runs until then toward maxRuns", async () => {
    const schedules = await schedulesWith({ cron: "0 9 * * *", maxRuns: 3 })
    const [, second, third] = await schedules.preview("s", 10)

    assert.deepEqual(await schedules.preview("s", 10, { after: second!.scheduledFor }), [third])
    assert.deepEqual(await schedules.preview("s", 10, { after: "2999-01-01T00:00:00Z" }), [])
  })

  test("is refused if more than 100,000 occurrences would have to be counted", async () => {
    const schedules = await schedulesWith({ every: "1s", maxRuns: 1_000_000_000 })

    await assert.rejects(schedules.preview("s", 1, { after: "2999-01-01T00:00:00Z" }), {
      code: "BELFRY_SCHEDULE_INVALID",
      message: /^schedules\.preview: after is 2999-01-01T00:00:00Z; "s" has more than 100000 occurrences/,
    })
  })
})

test("a preview of a schedule that is paused until a time begins with the first occurrence due from then on", async () => {
  const schedules = await schedulesWith({ cron: "0 9 * * *" })
  const [first, second, third] = await schedules.preview("s", 3)
  const moved = new Date(first!.scheduledFor.getTime() + 3_600_000)
  await schedules.move("s", first!.scheduledFor, moved)

  await schedules.pause("s", { until: moved })
  assert.deepEqual(times(await schedules.preview("s", 2)), times([first!, second!]))

  await schedules.pause("s", { until: new Date(moved.getTime() + 1) })
  assert.deepEqual(times(await schedules.preview("s", 2)), times([second!, third!]))
})

test.each([null, undefined, 0, "1"])(
  "an update needs a valid ifRevision: %s is refused",
  async (ifRevision) => {
    const schedules = await schedulesWith({ cron: "0 9 * * *" })

    await assert.rejects(schedules.update("s", { description: "x" }, { ifRevision: ifRevision as number }), {
      code: "BELFRY_SCHEDULE_INVALID",
      message: /^schedules\.update: ifRevision is .*; use a whole number from 1/,
    })
  },
)
