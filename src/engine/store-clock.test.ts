import assert from "node:assert/strict"
import { test } from "vitest"
import { type ClockReading, steppedBackMs } from "./store-clock.ts"

const reading = (now: number, askedAt: number, answeredAt = askedAt): ClockReading => ({
  now,
  askedAt,
  answeredAt,
})

const CASES: readonly (readonly [string, ClockReading, ClockReading, number])[] = [
  ["a clock that goes on as ours does", reading(100_000, 0), reading(160_000, 60_000), 0],
  ["a clock that drifts", reading(100_000, 0), reading(159_000, 60_000), 0],
  ["answers that took long", reading(100_000, 0, 20_000), reading(130_000, 30_000, 60_000), 0],
  ["a clock set back", reading(7_300_000, 0), reading(160_000, 60_000), 7_200_000],
  ["a clock set back by less than it went on", reading(100_000, 0), reading(110_000, 60_000), 50_000],
  ["a clock set forward", reading(100_000, 0), reading(7_360_000, 60_000), 0],
  ["reads that overlap", reading(100_000, 0, 50), reading(100_010, 10, 60), 0],
]

test.each(CASES)("%s", (_title, before, after, backMs) => {
  assert.equal(steppedBackMs(before, after), backMs)
})
