import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { createTestScheduler } from "../../src/testing.ts"
import { Fleet } from "../support/fleet.ts"

const good = defineTask({ name: "good", run: () => "done" })
const bad = defineTask({ name: "bad", retry: { attempts: 1 }, run: () => Promise.reject(new Error("no")) })

test("an overview has the counts and the problems that need attention", async () => {
  const test = await createTestScheduler({ tasks: [good, bad], startAt: "2026-03-10T08:30:00Z" })
  const { schedules } = test.scheduler
  await schedules.create("fine", { task: good, cron: "0 * * * *" })
  await schedules.create("sick", { task: bad, cron: "0 * * * *" })
  await schedules.create("nobody", { task: "unheard-of", cron: "0 * * * *" })
  await schedules.create("asleep", { task: good, cron: "0 * * * *", paused: true })
  await test.advance("1h")

  const overview = await test.scheduler.overview()

  assert.equal(overview.at.toISOString(), "2026-03-10T09:30:00.000Z")
  assert.deepEqual([overview.schedules.ok, overview.schedules.failing, overview.schedules.paused], [2, 1, 1])
  assert.deepEqual([overview.runs.succeeded, overview.runs.failed, overview.runs.pending], [1, 1, 1])
  assert.deepEqual([overview.workers.online, overview.workers.silent], [1, 0])
  const { attention } = overview
  assert.deepEqual(
    attention.failing.map(({ id }) => id),
    ["sick"],
  )
  assert.deepEqual(attention.unofferedTasks, ["unheard-of"])
  assert.deepEqual(
    attention.waiting.map(({ scheduleId }) => scheduleId),
    ["nobody"],
  )
  assert.deepEqual(
    [attention.broken, attention.overdue, attention.stuck, attention.silentWorkers],
    [[], [], [], []],
  )
})

test("an overview lists overdue schedules that no process fires, and stuck runs of a worker that is gone", async () => {
  await using fleet = new Fleet()
  const hung = defineTask({ name: "hung", run: () => new Promise(() => undefined) })
  const other = fleet.node()
  await other.schedules.create("s", { task: "t", every: "1h" })
  await fleet.advance("30s")
  const claim = { worker: "gone", tasks: [{ name: "hung", leaseMs: 30_000 }], limit: 1 }
  await other.enqueue(hung, { id: "held" })
  await fleet.store.claim(claim as never)
  await fleet.advance("2h")

  const { attention } = await other.overview()

  assert.deepEqual(
    attention.overdue.map(({ id }) => id),
    ["s"],
  )
  assert.deepEqual(
    attention.overdue[0]!.problems.map(({ kind }) => kind),
    ["overdue", "no-worker"],
  )
  assert.deepEqual(
    attention.stuck.map(({ id }) => id),
    ["held"],
  )
})

test("an overview doesn't count a process that only fires as a worker", async () => {
  await using fleet = new Fleet()
  const firing = fleet.node({ tasks: [good] })
  await firing.start({ roles: ["fire"] })
  await fleet.advance("1s")

  const { workers } = await firing.overview()

  assert.deepEqual(
    (await firing.workers()).items.map(({ roles }) => roles),
    [["fire"]],
  )
  assert.deepEqual(workers, { online: 0, silent: 0, slots: 0, running: 0 })
})

test("the waiting time of a run counts from when it became claimable, not from when it was due", async () => {
  const away = await createTestScheduler({ startAt: "2026-03-27T07:30:00Z" })
  const { schedules } = away.scheduler
  await schedules.create("s", { task: "report", cron: "0 * * * *" })
  await away.advance("4h")
  await schedules.update("s", { description: "settles what is owed" }, { ifRevision: 1 })
  const waiting = async () => (await away.scheduler.overview()).attention.waiting.length

  await away.advance("4m")
  assert.equal(await waiting(), 0)
  await away.advance("2m")
  assert.equal(await waiting(), 1)
})

test("an overview lists a run that has waited for days behind thousands of newer delayed runs", async () => {
  await using fleet = new Fleet()
  const client = fleet.node({ tasks: [good] })
  await client.enqueue(good, { id: "forgotten" })
  await fleet.advance("1h")
  const few = (await client.overview()).attention
  await fleet.advance("3d")
  for (let minute = 0; minute < 3; minute++) {
    await client.enqueueMany(good, Array(500).fill({ delay: "30d" }))
    await fleet.advance("1m")
  }
  await fleet.advance("5m")

  const many = (await client.overview()).attention

  for (const { waiting } of [few, many])
    assert.deepEqual(
      waiting.map(({ id }) => id),
      ["forgotten"],
    )
  assert.deepEqual([few.areAllRunsRead, many.areAllRunsRead], [true, false])
})

test("tasks lists the tasks that a worker offers or a schedule names", async () => {
  const test = await createTestScheduler({ tasks: [good, bad] })
  await test.scheduler.schedules.create("a", { task: "elsewhere", every: "1h" })
  await test.scheduler.schedules.create("b", { task: good, every: "1h" })

  assert.deepEqual(await test.scheduler.tasks(), [
    { name: "bad", workers: 1, schedules: 0 },
    { name: "elsewhere", workers: 0, schedules: 1 },
    { name: "good", workers: 1, schedules: 1 },
  ])
})

test("search finds schedules by id, task or description, runs by the beginning of their id, and tasks by name", async () => {
  const test = await createTestScheduler({ tasks: [good, bad] })
  const { schedules } = test.scheduler
  await schedules.create("nightly", { task: good, every: "1d", description: "The Goodwill report" })
  await schedules.create("hourly", { task: "t", every: "1h" })
  await test.scheduler.enqueue(bad, { id: "goods-1" })

  const found = await test.scheduler.search("good")

  assert.deepEqual(
    found.schedules.map(({ id }) => id),
    ["nightly"],
  )
  assert.deepEqual(
    found.runs.map(({ id }) => id),
    ["goods-1"],
  )
  assert.deepEqual(found.tasks, ["good"])
  assert.deepEqual(await test.scheduler.search("zzz"), { schedules: [], runs: [], tasks: [] })
  await assert.rejects(test.scheduler.search(""), { code: "BELFRY_SCHEDULER_INVALID" })
})
