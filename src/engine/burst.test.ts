import { assert, test } from "vitest"
import { aheadMsTo, burstOf } from "./burst.ts"

test.each([
  [0, null],
  [49, null],
  [50, 100],
  [200, 400],
  [500, 1_000],
  [100_000, 1_000],
])("%i schedules of one instant are fired %s ms ahead of it", (count, leadMs) => {
  assert.deepEqual(burstOf(5_000, count), leadMs === null ? null : { at: 5_000, leadMs })
})

test.each([
  [3_997, 0],
  [3_999.4, 1_001],
  [4_000, 1_000],
  [4_000.25, 1_000],
  [4_999, 1],
  [5_000, 0],
  [9_000, 0],
])("at %d, schedules are read %i ms ahead for a burst at 5000", (now, aheadMs) => {
  assert.equal(aheadMsTo({ at: 5_000, leadMs: 1_000 }, now), aheadMs)
})

test("without a burst no schedules are read ahead", () => {
  assert.equal(aheadMsTo(null, 4_999), 0)
})
