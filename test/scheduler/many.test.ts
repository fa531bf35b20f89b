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

describe("many schedules at once", () => {
  test("by a filter, by ids, or all of them", async () => {
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

  test("more than a page of them, with progress", async () => {
    const { schedules } = await withSchedules(1_203)
    const told: number[] = []

    const { ids } = await schedules.pause({ all: true }, { onProgress: (done) => void told.push(done) })

    assert.equal(ids.length, 1_203)
    assert.equal((await schedules.count({ state: "paused" })).paused, 1_203)
    assert.deepEqual([told[0], told.at(-1)], [10, 1_203])
  })

  test("a dry run says what would happen, and changes nothing", async () => {
    const { schedules, paused } = await withSchedules()

    assert.deepEqual((await schedules.pause({ tag: "even" }, { dryRun: true })).ids, ["s0", "s2", "s4"])
    assert.deepEqual((await schedules.delete({ all: true }, { dryRun: true })).ids.length, 5)
    assert.deepEqual(await paused(), [])
    assert.equal((await schedules.list()).items.length, 5)
  })

  test("one that isn't there is named, and doesn't keep the others", async () => {
    const { schedules, paused } = await withSchedules()

    const report = await schedules.pause(["s1", "gone", "s3"])

    assert.deepEqual(report, {
      ids: ["s1", "s3"],
      refused: [{ id: "gone", code: "BELFRY_SCHEDULE_NOT_FOUND", message: 'There is no schedule "gone".' }],
    })
    assert.deepEqual(await paused(), ["s1", "s3"])
  })

  test.each([[{}], [{ tag: undefined }], [{ all: false }]])("%j is too little to go by", async (filter) => {
    const { schedules, paused } = await withSchedules()

    await assert.rejects(schedules.pause(filter as object), {
      code: "BELFRY_SCHEDULE_INVALID",
      message:
        "schedules.pause: name an id or a filter. An empty filter would mean every one there is; if that is meant, say { all: true }.",
    })
    assert.deepEqual(await paused(), [])
  })
})

/** Runs that failed, and nobody left who would perform them again. */
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

describe("many runs at once", () => {
  test("a filter means those that the step is for, newest first", async () => {
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

  test("by the text of their error, which no index knows", async () => {
    const { runs } = await withFailures()

    assert.deepEqual((await runs.retry({ error: "econnreset" }, { dryRun: true })).ids.length, 4)
    assert.deepEqual((await runs.retry({ error: "timeout" })).ids, [])
    assert.equal((await runs.list({ error: "No luck" })).items.length, 4)
  })

  test("by ids: those that can't be are named with why", async () => {
    const { runs } = await withFailures()
    await runs.retry("r0")

    const { ids, refused } = await runs.retry(["r0", "r1", "gone"])

    assert.deepEqual(ids, ["r1"])
    assert.deepEqual(refused, [
      { id: "r0", code: "BELFRY_RUN_STATE", message: 'Run "r0" is pending and can\'t be tried again.' },
      { id: "gone", code: "BELFRY_RUN_NOT_FOUND", message: 'There is no run "gone".' },
    ])
  })

  test("a state that the step isn't for is refused before anything is done", async () => {
    const { runs } = await withFailures()

    await assert.rejects(runs.cancel({ state: ["pending", "failed"] }), {
      code: "BELFRY_RUN_INVALID",
      message: "runs.cancel: runs that are failed can't be cancelled; those that are pending or running can.",
    })
  })

  test("where runs of a schedule don't overlap, one is tried again and the others say what is in their way", async () => {
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
      `Run "${others[0]}" can't be tried again: ${newest} isn't done, and runs of s don't overlap.`,
    )
  })
})

describe("retry with another payload", () => {
  test("is another run, for the same occurrence, and says of which", async () => {
    const test = await createTestScheduler({ tasks: [failing], startAt: "2026-03-10T08:30:00Z" })
    const { runs, schedules } = test.scheduler
    const other = await createTestScheduler({ startAt: "2026-03-10T08:30:00Z" })
    await other.scheduler.enqueue("elsewhere", { id: "x", payload: 1 })
    await other.scheduler.runs.cancel("x")
    await schedules.create("s", { task: "failing", cron: "0 * * * *" })
    await test.advance("1h")
    const [failed] = (await runs.list()).items

    const anew = await other.scheduler.runs.retry("x", { payload: { limit: 10 }, by: "ann" })

    assert.deepEqual([anew.payload, anew.by, anew.reason], [{ limit: 10 }, "ann", "Instead of x"])
    assert.notEqual(anew.id, "x")
    await assert.rejects(runs.retry(failed!.id, { payload: 5 }), { code: "BELFRY_PAYLOAD_INVALID" })
    const empty = await runs.retry(failed!.id, { payload: null })
    assert.deepEqual(empty.scheduledFor, failed!.scheduledFor)
    assert.equal(empty.scheduleId, "s")
  })

  test("a run that isn't done, or whose key another holds, is refused", async () => {
    const test = await createTestScheduler({ startAt: "2026-03-10T08:30:00Z" })
    const { runs, enqueue } = { runs: test.scheduler.runs, enqueue: test.scheduler }
    await enqueue.enqueue("t", { id: "a" })

    await assert.rejects(runs.retry("a", { payload: 1 }), { code: "BELFRY_RUN_STATE" })
  })
})

test("a page by what no index knows may be short, and goes on by its cursor until the end", async () => {
  const rows = Array.from({ length: 25_000 }, (_, index) => index)
  const list = (first: number | null) =>
    listing<number, number, number>({
      limit: 5,
      first,
      read: async (after, size) => rows.slice((after ?? -1) + 1, (after ?? -1) + 1 + size),
      placeOf: (row) => row,
      wants: (row) => row % 12_000 === 11_999,
      show: (row) => row,
    })

  const { items, next } = await list(null)

  assert.deepEqual(items, [])
  assert.ok(next !== null)
  assert.deepEqual(await collected(list(null)), [11_999, 23_999])
})
