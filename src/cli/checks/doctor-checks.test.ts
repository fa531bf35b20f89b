import assert from "node:assert/strict"
import { test } from "vitest"
import { scheduleView } from "../../scheduler/views.ts"
import { AN_INSTANT, aStoredSchedule } from "../../store/laws/factories.ts"
import { checkSchedules } from "./doctor-checks.ts"

const OFFERED = new Set(["task"])

const checked = (lastRunAt: number | null) => {
  const schedule = aStoredSchedule({ id: "s", lastRunAt, nextRunAt: AN_INSTANT + 7_200_000 })
  return checkSchedules([scheduleView(schedule, OFFERED, AN_INSTANT)], AN_INSTANT).find(
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
    AN_INSTANT,
  )

  const { result, message, remedy } = checks.find(({ name }) => name === "cycles")!
  assert.equal(result, "problem")
  assert.equal(message, "a → b → a depend on each other and never fire")
  assert.equal(remedy, "Break the cycle: belfry schedule set a --unset depends-on")
})
