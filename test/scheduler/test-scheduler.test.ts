import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { onTestFinished, test, vi } from "vitest"
import { BelfryError, createScheduler, defineTask, memory, silentLogger } from "../../src/index.ts"
import { createTestScheduler, waitForRun } from "../../src/testing.ts"

const digest = defineTask({ name: "send-digest", run: () => "sent" })
const weekdays = digest.schedule("weekday-digest", { cron: "0 8 * * 1-5", timezone: "Europe/Paris" })

test("a schedule for 08:00 in Paris fires at 08:00, also after the clocks change", async () => {
  await using scheduler = await createTestScheduler({
    tasks: [digest],
    schedules: [weekdays],
    startAt: "2026-03-27T06:59:00Z",
  })

  await scheduler.advance("1m")
  await scheduler.advance("3d")

  assert.deepEqual(
    (await scheduler.runs({ task: digest })).map((run) => run.scheduledFor?.toISOString()),
    ["2026-03-27T07:00:00.000Z", "2026-03-30T06:00:00.000Z"],
  )
})

test("next returns the next occurrences without running anything", async () => {
  await using scheduler = await createTestScheduler({
    tasks: [digest],
    schedules: [weekdays],
    startAt: "2026-03-27T12:00:00Z",
  })

  const next = await scheduler.next("weekday-digest", 2)

  assert.deepEqual(
    next.map(({ dueAt }) => dueAt.toISOString()),
    ["2026-03-30T06:00:00.000Z", "2026-03-31T06:00:00.000Z"],
  )
  assert.deepEqual(await scheduler.runs(), [])
})

test("waitFor advances the time only until the run matches", async () => {
  await using scheduler = await createTestScheduler({
    tasks: [digest],
    schedules: [weekdays],
    startAt: "2026-03-27T06:00:00Z",
  })

  const run = await scheduler.waitFor({ task: digest, state: "succeeded" }, { within: "2h" })

  assert.equal(run.id, "weekday-digest@2026-03-27T07:00:00Z")
  assert.equal(scheduler.now().toISOString(), "2026-03-27T07:00:00.000Z")
  await assert.rejects(
    scheduler.waitFor({ state: "failed" }, { within: "1h" }),
    /No run matched .* within 1h/,
  )
})

test("virtual time stops while a task does real work", async () => {
  const self = new URL(import.meta.url)
  const reading = defineTask({ name: "reading", lease: "1s", run: async () => (await readFile(self)).length })
  await using scheduler = await createTestScheduler({ tasks: [reading], patience: "10m" })

  await scheduler.scheduler.enqueue(reading)
  await scheduler.advance("1h")

  const [run] = await scheduler.runs()
  assert.deepEqual([run?.state, run?.attempt, run?.durationMs], ["succeeded", 1, 0])
})

test("advance passes a month of hourly runs", async () => {
  const hourly = digest.schedule("hourly", { cron: "0 * * * *" })
  await using scheduler = await createTestScheduler({
    tasks: [digest],
    schedules: [hourly],
    retention: { age: "1d", perSchedule: 10 },
  })

  await scheduler.advance("30d")

  assert.equal((await scheduler.scheduler.schedules.get("hourly"))?.runCount, 720)
})

test("the same seed gives the same retries, another seed gives others", async () => {
  const failing = defineTask({ name: "failing", run: () => Promise.reject(new Error("no luck")) })
  const attemptTimes = async (seed: number) => {
    await using scheduler = await createTestScheduler({ tasks: [failing], seed })
    await scheduler.scheduler.enqueue(failing)
    await scheduler.advance("1h")
    return (await scheduler.runs())[0]?.attempts.map(({ startedAt }) => startedAt.getTime())
  }

  assert.deepEqual(await attemptTimes(7), await attemptTimes(7))
  assert.notDeepEqual(await attemptTimes(7), await attemptTimes(8))
})

test("waitForRun waits for a run with a real store and clock", async () => {
  await using scheduler = createScheduler({ store: memory(), tasks: [digest], logger: silentLogger })
  await scheduler.start()

  await scheduler.enqueue(digest)
  const run = await waitForRun(scheduler, { task: digest, state: "succeeded" }, { timeout: "10m" })

  assert.equal(run.details, "sent")
})

test("waitFor rejects if no run matches in time, and the error has the query", async () => {
  await using scheduler = await createTestScheduler({ tasks: [digest] })

  await assert.rejects(scheduler.waitFor({ task: digest }, { within: "1h" }), {
    name: "BelfryError",
    code: "BELFRY_RUN_NOT_FOUND",
    message: /^No run matched \{"task":"send-digest"\} within 1h of virtual time\. .*"within"\.$/,
  })
})

test.each([0, "1ms"] as const)(
  "waitForRun rejects if no run matches within %s, and the error has the query",
  async (timeout) => {
    await using scheduler = createScheduler({ store: memory(), tasks: [digest], logger: silentLogger })
    await scheduler.enqueue(digest, { id: "there" })

    const there = await waitForRun(scheduler, { task: digest, state: "pending" }, { timeout })
    const waiting = waitForRun(scheduler, { task: digest, state: "failed" }, { timeout })

    assert.equal(there.id, "there")
    await assert.rejects(waiting, (error: unknown) => {
      assert.ok(error instanceof BelfryError)
      assert.equal(error.code, "BELFRY_RUN_NOT_FOUND")
      assert.match(error.message, /^No run matched \{"task":"send-digest","state":"failed"\} within \d/)
      assert.match(error.remedy, /"timeout"/)
      return true
    })
  },
)

test("a test scheduler works with the fake timers of a test runner", async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const task = defineTask({ name: "digest", run: () => "done" })
  const schedule = task.schedule("hourly", { cron: "0 * * * *" })

  const test = await createTestScheduler({
    tasks: [task],
    schedules: [schedule],
    startAt: "2026-03-10T08:30:00Z",
  })
  await test.advance("2h")

  assert.deepEqual(
    (await test.runs({ task })).map(({ state }) => state),
    ["succeeded", "succeeded"],
  )
  await test.stop()
})
