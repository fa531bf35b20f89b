import assert from "node:assert/strict"
import { test } from "vitest"
import { scheduleView, workerView } from "../../scheduler/views.ts"
import { AN_INSTANT, aStoredSchedule, aWorker } from "../../store/laws/factories.ts"
import type { WorkerRole } from "../../store/store.ts"
import { createTestScheduler } from "../../testing.ts"
import { checkRuns, checkSchedules, checkWorkers } from "./doctor-checks.ts"

const OFFERED = new Set(["task"])

const checked = (lastRunAt: number | null) => {
  const schedule = aStoredSchedule({ id: "s", lastRunAt, nextRunAt: AN_INSTANT + 7_200_000 })
  return checkSchedules([scheduleView(schedule, OFFERED, AN_INSTANT)], { now: AN_INSTANT, lints: [] }).find(
    ({ name }) => name === "clock set back",
  )!
}

test("a schedule that fired ahead of the store's clock is a problem, and the message has its next due time", () => {
  const { result, message, remedy } = checked(AN_INSTANT + 3_600_000)

  assert.equal(result, "problem")
  assert.equal(
    message,
    "s fired ahead of the store's clock and will not fire until the clock has caught up; s is next due at 2026-03-27T09:00:00.000Z",
  )
  assert.match(remedy!, /belfry schedule trigger s$/)
})

test("a schedule that fired just now, or never, is not a problem", () => {
  assert.deepEqual(
    [null, AN_INSTANT, AN_INSTANT + 1_000].map((lastRunAt) => checked(lastRunAt).result),
    ["ok", "ok", "ok"],
  )
})

test("schedules that depend on each other are a problem, and the message has the cycle", () => {
  const on = (scheduleId: string) => ({ dependsOn: [{ scheduleId, withinMs: 1 }] })
  const schedules = [
    aStoredSchedule({ id: "a", ...on("b") }),
    aStoredSchedule({ id: "b", ...on("a") }),
    aStoredSchedule({ id: "c", ...on("a") }),
  ]

  const checks = checkSchedules(
    schedules.map((schedule) => scheduleView(schedule, OFFERED, AN_INSTANT)),
    { now: AN_INSTANT, lints: [] },
  )

  const { result, message, remedy } = checks.find(({ name }) => name === "cycles")!
  assert.equal(result, "problem")
  assert.equal(message, "a → b → a depend on each other and never fire")
  assert.equal(remedy, "Break the cycle: belfry schedule set a --unset depends-on")
})

const process = (...roles: readonly WorkerRole[]) => {
  const beat = { startedAt: AN_INSTANT, heartbeatAt: AN_INSTANT, expectedBy: AN_INSTANT, running: 0 }
  return workerView({ ...aWorker({ roles }), ...beat }, AN_INSTANT)
}

test("a process that only fires is no worker", () => {
  const [onlyFiring] = checkWorkers([process("fire")], [])
  const [withWorker] = checkWorkers([process("fire"), process("work")], [])

  assert.deepEqual(
    [onlyFiring!.result, onlyFiring!.message],
    ["warning", "no worker is online, so no runs are performed"],
  )
  assert.deepEqual([withWorker!.result, withWorker!.message], ["ok", "1 online, 0 of 10 slots in use"])
})

test("the checks of runs say if not all runs were read", async () => {
  const { scheduler } = await createTestScheduler({})
  const overview = await scheduler.overview()
  const messages = (areAllRunsRead: boolean) =>
    checkRuns({ ...overview, attention: { ...overview.attention, areAllRunsRead } }).map(
      ({ message }) => message,
    )

  assert.deepEqual(messages(true).slice(1), ["none", "no run has been waiting for long"])
  for (const message of messages(false).slice(1))
    assert.match(message, /among those that were read; there are too many to read all$/)
})
