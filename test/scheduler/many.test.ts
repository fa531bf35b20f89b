import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { collected, listing } from "../../src/scheduler/listing.ts"
import { createTestScheduler } from "../../src/testing.ts"
import { Fleet } from "../support/fleet.ts"

const failing = defineTask({
  name: "failing",
  retry: { attempts: 1 },
  run: () => Promise.reject(new Error("no luck at ECONNRESET")),
})

async function withSchedules(count = 5) {
  const test = await createTestScheduler({ startAt: "2026-03-10T08:30:00Z" })
  const { schedules } = test.scheduler
  for (let index = 0; index < count; index++)
    await schedules.create(`s${index}`, {
      ...{ task: "t", cron: "0 * * * *", tags: index % 2 === 0 ? ["even"] : [] },
    })
  const paused = async () => {
    const { items } = await schedules.list({ state: "paused" })
    return items.map(({ id }) => id)
  }
  return { test, schedules, paused }
}

describe("a step for many schedules", () => {
  test("selects them by a filter, by ids, or all", async () => {
    const { schedules, paused } = await withSchedules()

    const byTag = await schedules.pause({ tag: "even" }, { reason: "incident", by: "ann" })
    assert.deepEqual(byTag, { ids: ["s0", "s2", "s4"], refused: [] })
    assert.deepEqual(await paused(), ["s0", "s2", "s4"])
    assert.deepEqual((await schedules.get("s0"))?.paused?.reason, "incident")

    assert.deepEqual((await schedules.resume(["s0", "s2"])).ids, ["s0", "s2"])
    assert.deepEqual(await paused(), ["s4"])

    assert.deepEqual((await schedules.resume({ all: true })).ids, ["s4"])
    assert.deepEqual((await schedules.delete({ idPrefix: "s" }, { limit: 3 })).ids, ["s0", "s1", "s2"])
    assert.deepEqual(
      (await schedules.list()).items.map(({ id }) => id),
      ["s3", "s4"],
    )
  })

  test("pause by a filter leaves paused schedules as they are; by ids it replaces the pause", async () => {
    const { schedules } = await withSchedules(2)
    await schedules.pause("s0", { reason: "moving" })
    const reasons = async () => {
      const { items } = await schedules.list()
      return items.map(({ paused }) => paused?.reason)
    }

    assert.deepEqual((await schedules.pause({ all: true }, { reason: "incident" })).ids, ["s1"])
    assert.deepEqual(await reasons(), ["moving", "incident"])
    await schedules.pause(["s0"], { reason: "replaced" })
    assert.deepEqual(await reasons(), ["replaced", "incident"])
  })

  test("covers more than one page, and reports progress", async () => {
    const { schedules } = await withSchedules(1_203)
    const progress: number[] = []

    const { ids } = await schedules.pause({ all: true }, { onProgress: (done) => void progress.push(done) })

    assert.equal(ids.length, 1_203)
    assert.equal((await schedules.count({ state: "paused" })).paused, 1_203)
    assert.deepEqual([progress[0], progress.at(-1)], [10, 1_203])
  })

  test("as a dry run reports what would happen, and changes nothing", async () => {
    const { schedules, paused } = await withSchedules()

    assert.deepEqual((await schedules.pause({ tag: "even" }, { dryRun: true })).ids, ["s0", "s2", "s4"])
    assert.deepEqual((await schedules.delete({ all: true }, { dryRun: true })).ids.length, 5)
    assert.deepEqual(await paused(), [])
    assert.equal((await schedules.list()).items.length, 5)
  })

  test("reports an unknown id as refused, and changes the other schedules", async () => {
    const { schedules, paused } = await withSchedules()

    const report = await schedules.pause(["s1", "gone", "s3"])

    assert.deepEqual(report, {
      ids: ["s1", "s3"],
      refused: [{ id: "gone", code: "BELFRY_SCHEDULE_NOT_FOUND", message: 'There is no schedule "gone".' }],
    })
    assert.deepEqual(await paused(), ["s1", "s3"])
  })

  test.each([[{}], [{ tag: undefined }], [{ all: false }]])("refuses the empty filter %j", async (filter) => {
    const { schedules, paused } = await withSchedules()

    await assert.rejects(schedules.pause(filter as object), {
      code: "BELFRY_SCHEDULE_INVALID",
      message:
        "schedules.pause: give ids or a filter. An empty filter would select every record; to select all, pass { all: true }.",
    })
    assert.deepEqual(await paused(), [])
  })
})

/** Failed runs, without a worker that would perform a retry. */
async function withFailures(count = 4) {
  const fleet = new Fleet("2026-03-10T08:30:00Z")
  const worker = await fleet.started({ tasks: [failing] })
  for (let index = 0; index < count; index++) {
    await worker.enqueue(failing, { id: `r${index}` })
    await fleet.advance("1m")
  }
  await fleet.until(worker.stop())
  const { runs } = fleet.node()
  const states = async () => (await runs.list()).items.map(({ id, state }) => `${id} ${state}`)
  return { runs, states }
}

describe("a step for many runs", () => {
  test("with a filter selects the runs that the step applies to, newest first", async () => {
    const { runs, states } = await withFailures()
    await runs.retry("r3", { by: "ann", payload: undefined as never })

    assert.deepEqual(await runs.retry({ task: failing, since: "2026-03-10T08:31:00Z" }), {
      ids: ["r2", "r1"],
      refused: [],
    })
    assert.deepEqual(await states(), ["r3 pending", "r2 pending", "r1 pending", "r0 failed"])
    assert.deepEqual((await runs.cancel({ all: true }, { reason: "wrong day" })).ids, ["r3", "r2", "r1"])
    assert.equal((await runs.get("r1"))?.reason, "wrong day")
  })

  test("selects runs by the text of their error, without an index", async () => {
    const { runs } = await withFailures()

    assert.deepEqual((await runs.retry({ error: "econnreset" }, { dryRun: true })).ids.length, 4)
    assert.deepEqual((await runs.retry({ error: "timeout" })).ids, [])
    assert.equal((await runs.list({ error: "No luck" })).items.length, 4)
  })

  test("with ids reports each run that can't be changed, with the reason", async () => {
    const { runs } = await withFailures()
    await runs.retry("r0")

    const { ids, refused } = await runs.retry(["r0", "r1", "gone"])

    assert.deepEqual(ids, ["r1"])
    assert.deepEqual(refused, [
      { id: "r0", code: "BELFRY_RUN_STATE", message: 'Run "r0" is pending and can\'t be retried.' },
      { id: "gone", code: "BELFRY_RUN_NOT_FOUND", message: 'There is no run "gone".' },
    ])
  })

  test("refuses a state that the step doesn't apply to, before anything is changed", async () => {
    const { runs } = await withFailures()

    await assert.rejects(runs.cancel({ state: ["pending", "failed"] }), {
      code: "BELFRY_RUN_INVALID",
      message: "runs.cancel: runs that are failed can't be cancelled; only pending or running runs can.",
    })
  })

  test("retries only one run of a schedule with overlap skip, and reports the run that blocks the others", async () => {
    const test = await createTestScheduler({ tasks: [failing], startAt: "2026-03-10T08:30:00Z" })
    const { runs, schedules } = test.scheduler
    await schedules.create("s", { task: failing, cron: "0 * * * *" })
    await test.advance("3h")
    const [newest, ...others] = (await runs.list()).items.map(({ id }) => id)

    const { ids, refused } = await runs.retry({ schedule: "s" })

    assert.deepEqual(ids, [newest])
    assert.deepEqual(
      refused.map(({ id }) => id),
      others,
    )
    assert.equal(
      refused[0]!.message,
      `Run "${others[0]}" can't be retried: run ${newest} has not finished, and runs of s don't overlap.`,
    )
  })
})

describe("retry with another payload", () => {
  test("creates a new run for the same occurrence, and its reason has the old id", async () => {
    const test = await createTestScheduler({ tasks: [failing], startAt: "2026-03-10T08:30:00Z" })
    const { runs, schedules } = test.scheduler
    const other = await createTestScheduler({ startAt: "2026-03-10T08:30:00Z" })
    await other.scheduler.enqueue("elsewhere", { id: "x", payload: 1 })
    await other.scheduler.runs.cancel("x")
    await schedules.create("s", { task: "failing", cron: "0 * * * *" })
    await test.advance("1h")
    const [failed] = (await runs.list()).items

    const retried = await other.scheduler.runs.retry("x", { payload: { limit: 10 }, by: "ann" })

    assert.deepEqual([retried.payload, retried.by, retried.reason], [{ limit: 10 }, "ann", "Instead of x"])
    assert.notEqual(retried.id, "x")
    await assert.rejects(runs.retry(failed!.id, { payload: 5 }), { code: "BELFRY_PAYLOAD_INVALID" })
    const empty = await runs.retry(failed!.id, { payload: null })
    assert.deepEqual(empty.scheduledFor, failed!.scheduledFor)
    assert.equal(empty.scheduleId, "s")
  })

  test("refuses an unfinished run", async () => {
    const test = await createTestScheduler({ startAt: "2026-03-10T08:30:00Z" })
    const { runs, enqueue } = { runs: test.scheduler.runs, enqueue: test.scheduler }
    await enqueue.enqueue("t", { id: "a" })

    await assert.rejects(runs.retry("a", { payload: 1 }), { code: "BELFRY_RUN_STATE" })
  })
})

test("a page of a filter without an index may be short, and its cursor continues to the end", async () => {
  const rows = Array.from({ length: 25_000 }, (_, index) => index)
  const list = (first: number | null) =>
    listing<number, number, number>({
      name: "numbers",
      limit: 5,
      first,
      read: async (after, size) => rows.slice((after ?? -1) + 1, (after ?? -1) + 1 + size),
      placeOf: (row) => row,
      matches: (row) => row % 12_000 === 11_999,
      show: (row) => row,
    })

  const { items, next } = await list(null)

  assert.deepEqual(items, [])
  assert.ok(next !== null)
  assert.deepEqual(await collected(list(null)), [11_999, 23_999])
})

test("a listing can be used like a promise of its page", async () => {
  const { schedules } = await withSchedules(1)
  const ended: string[] = []

  const page = await schedules.list().finally(() => void ended.push("read"))
  const caught = await schedules.occurrences("nope").catch((error: Error) => error.message)
  const unharmed = await schedules.list().catch(() => null)

  assert.deepEqual([page.items.length, unharmed?.items.length, ended], [1, 1, ["read"]])
  assert.equal(caught, 'There is no schedule "nope".')
})
