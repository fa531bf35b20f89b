import assert from "node:assert/strict"
import { beforeEach, test } from "vitest"
import { createVirtualClock, type VirtualClock } from "../../testing/virtual-clock.ts"
import { EndedHints } from "./ended-hints.ts"

let clock: VirtualClock
let sentAt: number[]
let hints: EndedHints

beforeEach(() => {
  clock = createVirtualClock(0)
  sentAt = []
  hints = new EndedHints(clock, () => sentAt.push(clock.now()))
})

function pass(ms: number): void {
  const target = clock.now() + ms
  while (clock.timeline.step(target));
  clock.timeline.jumpTo(target)
}

test("the first end is announced at once", () => {
  hints.onEnded()
  assert.deepEqual(sentAt, [0])
})

test("a thousand ends in a second are announced a few times, the last time after the last end", () => {
  for (let ms = 0; ms < 1_000; ms++) {
    hints.onEnded()
    pass(1)
  }
  pass(1_000)
  assert.ok(sentAt.length >= 3 && sentAt.length <= 6, `${sentAt.length} times`)
  assert.ok(sentAt.at(-1)! >= 999, "after the last end")
})

test("a hint of another process replaces this process's own", () => {
  hints.onEnded()
  pass(10)
  hints.onEnded()
  pass(10)
  hints.onReceived()
  pass(10_000)
  assert.deepEqual(sentAt, [0])
})

test("an end after another process's hint is announced", () => {
  hints.onReceived()
  pass(10)
  hints.onEnded()
  pass(10_000)
  assert.equal(sentAt.length, 1)
})

test("closing the store sends the pending hint, and no hint after it", () => {
  hints.onEnded()
  pass(10)
  hints.onEnded()
  hints.close()
  pass(10_000)
  assert.deepEqual(sentAt, [0, 10])
})
