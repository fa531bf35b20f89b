import assert from "node:assert/strict"
import { test } from "vitest"
import * as z from "zod"
import { createScheduler, defineTask, memory, silentLogger } from "../../src/index.ts"
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

test("with dryRun, put and update return the schedule as it would be, refuse what they refuse, and change nothing", async () => {
  const { schedules, journal } = await fixture()
  await schedules.create("s", { task: send, payload: { to: "ann" }, cron: "0 * * * *" })
  const stored = await schedules.get("s")
  const entries = (await journal.list()).items.length
  const dry = { ifRevision: 1, dryRun: true }

  const updated = await schedules.update("s", { cron: "30 * * * *" }, dry)
  const put = await schedules.put("s", { task: sweep, cron: "0 7 * * *" }, dry)
  const created = await schedules.put("new", { task: sweep, cron: "0 7 * * *" }, { dryRun: true })

  assert.deepEqual(
    [updated.when, updated.nextRunAt?.toISOString()],
    ["30 * * * *", "2026-03-10T09:30:00.000Z"],
  )
  assert.deepEqual([put.task, put.revision], ["sweep", 2])
  assert.equal(created.id, "new")
  await assert.rejects(schedules.update("s", { payload: { too: 1 } }, dry), {
    code: "BELFRY_PAYLOAD_INVALID",
  })
  await assert.rejects(schedules.update("s", { priority: 1 }, { ...dry, ifRevision: 7 }), {
    code: "BELFRY_SCHEDULE_CHANGED",
  })
  assert.deepEqual([await schedules.get("s"), await schedules.get("new")], [stored, null])
  assert.equal((await journal.list()).items.length, entries)
})

test("create and put refuse a mistake before the store is opened", async () => {
  let isOpened = false
  const open = async () => {
    isOpened = true
  }
  const { schedules } = createScheduler({ store: { ...memory(), open }, tasks: [send], logger: silentLogger })
  const invalid = { task: send, payload: { too: 1 }, cron: "0 * * * *" } as never

  for (const method of [schedules.create, schedules.put]) {
    const call = method.bind(schedules)
    await assert.rejects(call("s", { task: "send", cron: "0 25 * * *" }), { code: "BELFRY_CRON_FIELD_RANGE" })
    await assert.rejects(call("s", invalid), { code: "BELFRY_PAYLOAD_INVALID" })
  }
  assert.equal(isOpened, false)
})
