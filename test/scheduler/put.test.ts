import assert from "node:assert/strict"
import { test } from "vitest"
import * as z from "zod"
import { defineTask } from "../../src/index.ts"
import { createTestScheduler } from "../../src/testing.ts"

const send = defineTask({ name: "send", payload: z.object({ to: z.string() }), run: () => "sent" })
const sweep = defineTask({ name: "sweep", run: () => "swept" })

async function fixture() {
  const test = await createTestScheduler({ tasks: [send, sweep], startAt: "2026-03-10T08:30:00Z" })
  return { test, ...test.scheduler }
}

test("put creates a schedule that doesn't exist", async () => {
  const { schedules } = await fixture()

  const created = await schedules.put("s", { task: sweep, cron: "0 * * * *", paused: { reason: "not yet" } })

  assert.equal(created.revision, 1)
  assert.equal(created.paused?.reason, "not yet")
  assert.deepEqual(await schedules.get("s"), created)
})

test("put replaces a definition: missing options get their defaults, and the state of the schedule is kept", async () => {
  const { test, schedules } = await fixture()
  await schedules.put("s", {
    task: send,
    payload: { to: "ann" },
    cron: "0 * * * *",
    tags: ["mail"],
    priority: 3,
  })
  await test.advance("2h")

  const replaced = await schedules.put("s", { task: sweep, cron: "0 * * * *", description: "cleans" })

  assert.deepEqual(
    [replaced.task, replaced.payload, replaced.tags, replaced.priority, replaced.description],
    ["sweep", null, [], 0, "cleans"],
  )
  assert.deepEqual([replaced.revision, replaced.firedCount], [2, 2])
  assert.equal(replaced.nextRunAt?.toISOString(), "2026-03-10T11:00:00.000Z")
  await test.advance("1h")
  assert.deepEqual(
    (await test.runs()).map(({ task, state }) => [task, state]),
    [
      ["send", "succeeded"],
      ["send", "succeeded"],
      ["sweep", "succeeded"],
    ],
  )
})

test("put with the same definition changes nothing, not even the revision", async () => {
  const { schedules, journal } = await fixture()
  const created = await schedules.put("s", { task: sweep, cron: "0 * * * *" })

  const again = await schedules.put("s", { task: sweep, cron: "0 * * * *" })

  assert.equal(again.revision, created.revision)
  assert.equal((await journal.list()).items.length, 1)
})

test("put with ifRevision replaces only at that revision, and never creates", async () => {
  const { schedules } = await fixture()
  const hourly = { task: sweep, cron: "0 * * * *" }
  await assert.rejects(schedules.put("s", hourly, { ifRevision: 1 }), {
    code: "BELFRY_SCHEDULE_CHANGED",
    message: 'Schedule "s" doesn\'t exist; the change was based on revision 1.',
  })
  await schedules.put("s", hourly)
  await schedules.put("s", { ...hourly, description: "two" }, { ifRevision: 1 })

  await assert.rejects(schedules.put("s", { ...hourly, description: "three" }, { ifRevision: 1 }), {
    code: "BELFRY_SCHEDULE_CHANGED",
  })
})

test("put with an invalid payload or a missing dependency changes nothing", async () => {
  const { schedules } = await fixture()
  const created = await schedules.put("s", { task: send, payload: { to: "ann" }, cron: "0 * * * *" })

  await assert.rejects(
    schedules.put("s", { task: "send", payload: { too: 1 }, cron: "0 * * * *" } as never),
    {
      code: "BELFRY_PAYLOAD_INVALID",
    },
  )
  await assert.rejects(
    schedules.put("s", { task: sweep, cron: "0 * * * *", dependsOn: [{ schedule: "no", within: "1h" }] }),
  )
  assert.deepEqual(await schedules.get("s"), created)
})

test("an update may change the task; the payload must be valid for the new task", async () => {
  const { test, schedules } = await fixture()
  await schedules.create("s", { task: sweep, cron: "0 * * * *" })

  await assert.rejects(schedules.update("s", { task: send }, { ifRevision: 1 }), {
    code: "BELFRY_PAYLOAD_INVALID",
  })
  await schedules.update("s", { task: send, payload: { to: "bo" } }, { ifRevision: 1, by: "ann" })

  await test.advance("1h")
  assert.deepEqual(
    (await test.runs()).map(({ task, payload, state }) => [task, payload, state]),
    [["send", { to: "bo" }, "succeeded"]],
  )
})
