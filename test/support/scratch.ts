import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { BelfryError, type ErrorCode } from "belfry"
import { afterEach } from "vitest"

/** Clean-up, waiting and expected errors for tests of several stores. */

const closings: (() => unknown)[] = []

/** Runs when the test ends, in the reverse order of the calls. */
export function atTheEnd(close: () => unknown): void {
  closings.push(close)
}

afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close()
})

export async function rejectsWith(
  code: ErrorCode,
  work: Promise<unknown>,
  words = /(?:)/,
): Promise<BelfryError> {
  let thrown: unknown
  try {
    await work
  } catch (error) {
    thrown = error
  }
  assert.ok(thrown instanceof BelfryError, `${thrown ?? "Nothing"} is thrown`)
  assert.equal(thrown.code, code, thrown.message)
  assert.match(thrown.message, words)
  return thrown
}

export async function until(
  condition: () => boolean | Promise<boolean>,
  what = "it",
  withinMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > deadline) assert.fail(`${what} within ${withinMs / 1_000} s`)
    await sleep(25)
  }
}
