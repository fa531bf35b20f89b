import { test } from "vitest"
import { assertStormWeathered } from "./storm.ts"

const first = Number(process.env["BELFRY_SEED"] ?? Math.floor(Math.random() * 1e9))
const SEEDS = Array.from({ length: 10 }, (_, index) => first + index)

test.each(SEEDS)(
  "whatever happens to runs, everything they are found by is in step with them: BELFRY_SEED=%i",
  (seed) => assertStormWeathered(seed),
)
