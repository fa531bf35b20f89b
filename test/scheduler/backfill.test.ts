import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { createTestScheduler } from "../../src/testing.ts"

async function fixture(options: object = {}) {
  const performed: string[] = []
  const task = defineTask({ name: "send", run: ({ run }) => void performed.push(run.id) })
  const test = await createTestScheduler({ tasks: [task], startAt: "2026-03-10T08:30:00Z" })
  const { schedules, runs } = test.scheduler
  await schedules.create("s", { task, cron: "0 * * * *", ...options })
  return { test, schedules, runs, performed }
}

const YESTERDAY = { from: "2026-03-09T00:00:00Z", until: "2026-03-09T05:00:00Z" }

test("a plan lists the occurrences in the range, both ends included, and changes nothing", async () => {
  const { schedules, runs } = await fixture()

  const plan = await schedules.planBackfill("s", YESTERDAY)

  assert.equal(plan.occurrences.length, 6)
  assert.deepEqual([plan.which, plan.name, plan.leftOut], ["missing", "backfill", 0])
  assert.deepEqual((await runs.list()).items, [])
})

test("a backfill runs each occurrence once, one at a time, below the schedule's priority", async () => {
  const { test, schedules, runs, performed } = await fixture({ priority: 5 })
  const progress: number[][] = []
  const onProgress = (...counts: [number, number]) => void progress.push(counts)

  const created = await schedules.backfill(await schedules.planBackfill("s", YESTERDAY), {
    by: "ada",
    onProgress,
  })
  await test.advance("1m")

  assert.deepEqual(performed.toSorted(), created.toSorted())
  assert.equal(created[0], "s@2026-03-09T00:00:00Z~backfill")
  const run = (await runs.get(created[0]!))!
  assert.deepEqual(
    [run.triggeredBy, run.trigger, run.priority, run.by],
    ["backfill", "backfill:backfill", 4, "ada"],
  )
  assert.equal(run.scheduledFor?.toISOString(), "2026-03-09T00:00:00.000Z")
  assert.deepEqual(progress, [[6, 6]])
})

test("a second backfill with the same name runs nothing; another name runs the occurrences again", async () => {
  const { test, schedules } = await fixture()
  const plan = await schedules.planBackfill("s", YESTERDAY)
  await schedules.backfill(plan)
  await test.advance("1m")

  const again = await schedules.planBackfill("s", YESTERDAY)
  const named = await schedules.planBackfill("s", { ...YESTERDAY, name: "after-fix" })

  assert.deepEqual([again.occurrences.length, again.leftOut], [0, 6])
  assert.deepEqual([named.occurrences.length, named.leftOut], [6, 0])
})

test("occurrences with a run are left out, except with which all; a recorded skip is not a run", async () => {
  const { test, schedules } = await fixture()
  await schedules.skip("s", "2026-03-10T10:00:00Z")
  await test.advance("3h")
  const range = { from: "2026-03-10T08:00:00Z", until: "2026-03-10T11:00:00Z" }

  const missing = await schedules.planBackfill("s", range)
  const all = await schedules.planBackfill("s", { ...range, which: "all", name: "all" })

  assert.deepEqual(
    missing.occurrences.map((at) => at.getUTCHours()),
    [8, 10],
  )
  assert.equal(missing.leftOut, 2)
  assert.equal(all.occurrences.length, 4)
})

test("a plan whose occurrences have changed since is refused", async () => {
  const { test, schedules } = await fixture()
  const plan = await schedules.planBackfill("s", YESTERDAY)
  await schedules.update("s", { cron: "30 * * * *" }, { ifRevision: 1 })
  await test.advance("1m")

  await assert.rejects(schedules.backfill(plan), {
    code: "BELFRY_BACKFILL_CHANGED",
    message: /was planned for 6 occurrences, but now it has 5/,
    status: 409,
  })
})

test("a range that can't be backfilled is refused with the reason", async () => {
  const { schedules } = await fixture()
  const refused = (range: object, message: RegExp) =>
    assert.rejects(schedules.planBackfill("s", { ...YESTERDAY, ...range }), {
      code: "BELFRY_BACKFILL_INVALID",
      message,
    })

  await refused({ from: "2026-03-09T06:00:00Z" }, /its start 2026-03-09T06:00:00Z is after its end/)
  await refused({ until: "2026-03-11T00:00:00Z" }, /its end 2026-03-11T00:00:00Z is in the future/)
  await refused({ name: "my backfill" }, /name is "my backfill"; use 1 to 64 letters/)
  await refused({ from: "2025-01-01T00:00:00Z" }, /more than 1000 occurrences of "s"; backfill it in parts/)
})

test("an invalid concurrency is refused before anything is stored", async () => {
  const { schedules, runs } = await fixture()
  const plan = await schedules.planBackfill("s", YESTERDAY)

  for (const concurrency of [0, -1, 1.5])
    await assert.rejects(schedules.backfill(plan, { concurrency }), { code: "BELFRY_BACKFILL_INVALID" })

  assert.deepEqual((await runs.list()).items, [])
})

test("backfilled runs neither wait for an unfinished run nor count as an overlap", async () => {
  const { test, schedules, runs } = await fixture({ overlap: "skip" })
  await schedules.backfill(await schedules.planBackfill("s", YESTERDAY))

  await test.advance("30m")

  assert.equal((await runs.get("s@2026-03-10T09:00:00Z"))?.state, "succeeded")
})

test("which failed selects only the occurrences whose run failed", async () => {
  const task = defineTask({
    name: "odd",
    retry: { attempts: 1 },
    run: ({ run }) => {
      if (run.scheduledFor!.getUTCHours() % 2 === 1 && run.triggeredBy === "schedule") throw new Error("odd")
    },
  })
  const test = await createTestScheduler({ tasks: [task], startAt: "2026-03-10T00:30:00Z" })
  const { schedules } = test.scheduler
  await schedules.create("s", { task, cron: "0 * * * *" })
  await test.advance("4h")
  const range = { from: "2026-03-09T22:00:00Z", until: "2026-03-10T04:00:00Z", which: "failed" } as const

  const plan = await schedules.planBackfill("s", range)
  await schedules.backfill(plan)
  await test.advance("1m")

  assert.deepEqual(
    plan.occurrences.map((at) => at.getUTCHours()),
    [1, 3],
  )
  assert.equal(plan.leftOut, 5)
  assert.deepEqual((await schedules.planBackfill("s", range)).occurrences, [])
})
