import assert from "node:assert/strict"
import { beforeEach, test } from "vitest"
import { createVirtualClock, type VirtualClock } from "../../testing/virtual-clock.ts"
import { EndedHints } from "./ended-hints.ts"

let clock: VirtualClock
let told: number[]
let hints: EndedHints

beforeEach(() => {
  clock = createVirtualClock(0)
  told = []
  hints = new EndedHints(clock, () => told.push(clock.now()))
})

function pass(ms: number): void {
  const target = clock.now() + ms
  while (clock.timeline.step(target));
  clock.timeline.jumpTo(target)
}

test("the first end is told at once", () => {
  hints.onEnded()
  assert.deepEqual(told, [0])
})

test("a thousand ends in a second are told a few times, and the last of them is", () => {
  for (let ms = 0; ms < 1_000; ms++) {
    hints.onEnded()
    pass(1)
  }
  pass(1_000)
  assert.ok(told.length >= 3 && told.length <= 6, `${told.length} times`)
  assert.ok(told.at(-1)! >= 999, "after the last end")
})

test("what another process tells meanwhile stands for ours", () => {
  hints.onEnded()
  pass(10)
  hints.onEnded()
  pass(10)
  hints.onHeard()
  pass(10_000)
  assert.deepEqual(told, [0])
})

test("what ended after another process told is told", () => {
  hints.onHeard()
  pass(10)
  hints.onEnded()
  pass(10_000)
  assert.equal(told.length, 1)
})

test("what is owed is told when the store is closed, and nothing after that", () => {
  hints.onEnded()
  pass(10)
  hints.onEnded()
  hints.close()
  pass(10_000)
  assert.deepEqual(told, [0, 10])
})
