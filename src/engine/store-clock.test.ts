import assert from "node:assert/strict"
import { test } from "vitest"
import { type ClockReading, steppedBackMs } from "./store-clock.ts"

const reading = (now: number, askedAt: number, answeredAt = askedAt): ClockReading => ({
  now,
  askedAt,
  answeredAt,
})

const CASES: readonly (readonly [string, ClockReading, ClockReading, number])[] = [
  [
    "a store clock that keeps pace with the process has not gone back",
    reading(100_000, 0),
    reading(160_000, 60_000),
    0,
  ],
  ["a store clock that drifts has not gone back", reading(100_000, 0), reading(159_000, 60_000), 0],
  [
    "slow answers are not a clock that goes back",
    reading(100_000, 0, 20_000),
    reading(130_000, 30_000, 60_000),
    0,
  ],
  [
    "a store clock that is set back by two hours has gone back by two hours",
    reading(7_300_000, 0),
    reading(160_000, 60_000),
    7_200_000,
  ],
  [
    "a step back that is shorter than the time between the readings is noticed",
    reading(100_000, 0),
    reading(110_000, 60_000),
    50_000,
  ],
  ["a store clock that is set forward has not gone back", reading(100_000, 0), reading(7_360_000, 60_000), 0],
  ["overlapping reads are not a clock that goes back", reading(100_000, 0, 50), reading(100_010, 10, 60), 0],
]

test.each(CASES)("%s", (_title, before, after, backMs) => {
  assert.equal(steppedBackMs(before, after), backMs)
})
