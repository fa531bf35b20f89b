import assert from "node:assert/strict"
import { afterEach, beforeEach, test, vi } from "vitest"
import { systemClock } from "../../src/runtime/clock.ts"

const DAY = 86_400_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test("a timer longer than Node can set rings when it should, not at once", () => {
  const rung: number[] = []
  const from = Date.now()
  for (const days of [1, 24, 25, 50, 400])
    systemClock.setTimer(days * DAY, () => void rung.push((Date.now() - from) / DAY))

  vi.advanceTimersByTime(500 * DAY)

  assert.deepEqual(rung, [1, 24, 25, 50, 400])
})

test("a timer that is called off never rings, at whatever stage", () => {
  let hasRung = false
  const callOff = systemClock.setTimer(60 * DAY, () => {
    hasRung = true
  })
  vi.advanceTimersByTime(30 * DAY)

  callOff()
  vi.advanceTimersByTime(60 * DAY)

  assert.equal(hasRung, false)
})

test("ids are never made twice, and chance is in [0, 1)", () => {
  const ids = new Set(Array.from({ length: 1_000 }, () => systemClock.newId()))
  const chances = Array.from({ length: 1_000 }, () => systemClock.random())

  assert.equal(ids.size, 1_000)
  assert.ok(chances.every((chance) => chance >= 0 && chance < 1))
})
