import assert from "node:assert/strict"
import { test } from "vitest"
import { addedCounters, boundOf, bucketAt, countUpTo, meanOf, quantileOf, sumOf } from "./statistics.ts"

test.each([
  [0, 1],
  [1, 1],
  [1.5, 2],
  [3, 5],
  [5, 5],
  [6, 10],
  [499, 500],
  [86_400_000, 100_000_000],
  [1e12, 5_000_000_000],
])("a value of %d ms is counted at the bound %d", (ms, bound) => {
  assert.equal(boundOf(ms), bound)
})

test("a bucket begins at a multiple of its span, also before 1970", () => {
  assert.equal(bucketAt(3_599_999, 3_600_000), 0)
  assert.equal(bucketAt(3_600_000, 3_600_000), 3_600_000)
  assert.equal(bucketAt(-1, 60_000), -60_000)
})

test("a quantile is the smallest bound that at least that share of the values doesn't exceed", () => {
  const counters = {
    [countUpTo("duration", 1)]: 50,
    [countUpTo("duration", 100)]: 45,
    [countUpTo("duration", 2_000)]: 5,
    [countUpTo("lateness", 5)]: 1,
  }
  assert.equal(quantileOf(counters, "duration", 0.5), 1)
  assert.equal(quantileOf(counters, "duration", 0.51), 100)
  assert.equal(quantileOf(counters, "duration", 0.95), 100)
  assert.equal(quantileOf(counters, "duration", 0.99), 2_000)
  assert.equal(quantileOf(counters, "lateness", 0.5), 5)
  assert.equal(quantileOf({}, "duration", 0.5), null)
})

test("a mean covers all values and is null without values", () => {
  const counters = { [countUpTo("duration", 5)]: 3, [countUpTo("duration", 50)]: 1, [sumOf("duration")]: 50 }
  assert.equal(meanOf(counters, "duration"), 12.5)
  assert.equal(meanOf(counters, "lateness"), null)
})

test("counters are added by name", () => {
  assert.deepEqual(addedCounters({ a: 1, b: 2 }, { b: 3, c: 4 }), { a: 1, b: 5, c: 4 })
})
