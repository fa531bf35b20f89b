import { test } from "vitest"
import { assertIndexesAfterStorm } from "./random-changes.ts"

const first = Number(process.env["BELFRY_SEED"] ?? Math.floor(Math.random() * 1e9))
const SEEDS = Array.from({ length: 10 }, (_, index) => first + index)

test.each(SEEDS)("after random changes of runs, all indexes match the runs: BELFRY_SEED=%i", (seed) =>
  assertIndexesAfterStorm(seed),
)
