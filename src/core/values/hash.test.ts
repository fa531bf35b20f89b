import { assert, test } from "vitest"
import { hashText } from "./hash.ts"

// Jitter and `H` are computed from this hash. Another value would move existing schedules to other times.
test.each([
  ["", 2_872_998_923],
  ["a", 444_641_715],
  ["report@2026-03-10T09:00:00Z", 964_805_174],
])("the hash of %j never changes", (text, hash) => {
  assert.equal(hashText(text), hash)
})

test("a hash is an unsigned integer of 32 bits", () => {
  for (let index = 0; index < 10_000; index++) {
    const hash = hashText(`schedule-${index}`)
    assert.isTrue(Number.isInteger(hash) && hash >= 0 && hash < 2 ** 32)
  }
})

test("hashes of similar ids are spread evenly over the minutes of an hour", () => {
  const minutes = new Array<number>(60).fill(0)
  for (let index = 0; index < 60_000; index++) minutes[hashText(`tenant-${index}`) % 60]!++

  for (const count of minutes) assert.closeTo(count, 1_000, 160)
})

test("among 10,000 ids at most two share a hash with another", () => {
  const values = new Set(Array.from({ length: 10_000 }, (_, index) => hashText(`tenant-${index}`)))

  assert.isAtLeast(values.size, 9_998)
})
