import assert from "node:assert/strict"
import { afterEach, beforeEach, test, vi } from "vitest"
import { systemClock, timeOrderedId } from "../../src/runtime/clock.ts"

const DAY = 86_400_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test("a timer longer than Node.js can set fires at its time, not at once", () => {
  const firedAfter: number[] = []
  const from = Date.now()
  for (const days of [1, 24, 25, 50, 400])
    systemClock.setTimer(days * DAY, () => void firedAfter.push((Date.now() - from) / DAY))

  vi.advanceTimersByTime(500 * DAY)

  assert.deepEqual(firedAfter, [1, 24, 25, 50, 400])
})

test("a cancelled timer never fires, also if it is longer than Node.js can set", () => {
  let hasFired = false
  const cancel = systemClock.setTimer(60 * DAY, () => {
    hasFired = true
  })
  vi.advanceTimersByTime(30 * DAY)

  cancel()
  vi.advanceTimersByTime(60 * DAY)

  assert.equal(hasFired, false)
})

test("an id is a UUID of version 7, which begins with its time", () => {
  const id = timeOrderedId(Date.UTC(2026, 10, 18), "f81d4fae-7dec-41d0-a765-00a0c91e6bf6")

  assert.equal(id, "01a1ebf4-0400-71d0-a765-00a0c91e6bf6")
  assert.ok(timeOrderedId(1, id) < timeOrderedId(2, id))
  assert.match(systemClock.newId(), /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
})

test("ids are unique, and random numbers are in [0, 1)", () => {
  const ids = new Set(Array.from({ length: 1_000 }, () => systemClock.newId()))
  const numbers = Array.from({ length: 1_000 }, () => systemClock.random())

  assert.equal(ids.size, 1_000)
  assert.ok(numbers.every((number) => number >= 0 && number < 1))
})
