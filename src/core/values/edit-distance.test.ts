import assert from "node:assert/strict"
import { test } from "vitest"
import { editDistance } from "./edit-distance.ts"

test.each([
  ["", "", 0],
  ["cron", "cron", 0],
  ["", "cron", 4],
  ["corn", "cron", 2],
  ["cro", "cron", 1],
  ["croon", "cron", 1],
  ["timeout", "timezone", 3],
])("the distance between %j and %j is %i, in both directions", (a, b, distance) => {
  assert.deepEqual([editDistance(a, b, 10), editDistance(b, a, 10)], [distance, distance])
})

test("words whose lengths differ by more than the limit are not compared", () => {
  assert.equal(editDistance("a", "abcdef", 4), Number.POSITIVE_INFINITY)
})
