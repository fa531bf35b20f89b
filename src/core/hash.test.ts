import { assert, test } from "vitest"
import { hashText } from "./hash.ts"

/** Delays and `H` were computed with these: another value would move everybody's schedules. */
test.each([
  ["", 2_872_998_923],
  ["a", 444_641_715],
  ["report@2026-03-10T09:00:00Z", 964_805_174],
])("the hash of %j never changes", (text, hash) => {
  assert.equal(hashText(text), hash)
})

test("it is a whole number of 32 bits, never negative", () => {
  for (let index = 0; index < 10_000; index++) {
    const hash = hashText(`schedule-${index}`)
    assert.isTrue(Number.isInteger(hash) && hash >= 0 && hash < 2 ** 32)
  }
})

test("ids that differ in one letter land evenly over an hour", () => {
  const minutes = new Array<number>(60).fill(0)
  for (let index = 0; index < 60_000; index++) minutes[hashText(`tenant-${index}`) % 60]!++

  for (const count of minutes) assert.closeTo(count, 1_000, 160)
})

test("ten thousand ids hardly ever share a value", () => {
  const values = new Set(Array.from({ length: 10_000 }, (_, index) => hashText(`tenant-${index}`)))

  assert.isAtLeast(values.size, 9_998)
})
