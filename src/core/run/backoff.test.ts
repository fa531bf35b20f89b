import fc from "fast-check"
import { assert, test } from "vitest"
import { assertProperty } from "../../../test/support/properties.ts"
import { aRetry } from "../../../test/support/records.ts"
import { DEFAULT_RETRY, nextDelayMs } from "./backoff.ts"

test("by default a run has 3 attempts, with delays of about 5 and 10 seconds", () => {
  assert.equal(DEFAULT_RETRY.attempts, 3)
  assert.deepEqual(
    [1, 2].map((failures) => nextDelayMs(DEFAULT_RETRY, failures, 0)),
    [5_000, 10_000],
  )
})

test.each([
  ["exponential", [5, 10, 20, 40, 60, 60]],
  ["linear", [5, 10, 15, 20, 25, 30]],
  ["fixed", [5, 5, 5, 5, 5, 5]],
] as const)("%s delays are %j seconds, limited to the maximum delay", (backoff, seconds) => {
  const policy = aRetry({ backoff, baseMs: 5_000, maxMs: 60_000, jitter: 0 })

  assert.deepEqual(
    seconds.map((_, index) => nextDelayMs(policy, index + 1, 0)),
    seconds.map((each) => each * 1_000),
  )
})

test.each([
  [0, 1_000],
  [0.5, 875],
  [0.999_999, 750],
])("with a jitter of 0.25, the random number %d makes a delay of 1 s %d ms long", (chance, ms) => {
  assert.equal(nextDelayMs(aRetry({ backoff: "fixed", baseMs: 1_000, jitter: 0.25 }), 1, chance), ms)
})

test("a maximum delay below the first delay limits the first delay too", () => {
  assert.equal(nextDelayMs(aRetry({ baseMs: 5_000, maxMs: 1_000, jitter: 0 }), 1, 0), 1_000)
})

test("for any number of failures a delay is an integer between the smallest jittered delay and the maximum delay", () => {
  const anyPolicy = fc.record({
    attempts: fc.constant(1_000),
    backoff: fc.constantFrom("exponential" as const, "linear" as const, "fixed" as const),
    baseMs: fc.nat(86_400_000),
    maxMs: fc.nat(86_400_000),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  const anyChance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

  assertProperty(
    fc.property(anyPolicy, fc.integer({ min: 1, max: 10_000 }), anyChance, (policy, failures, chance) => {
      const delay = nextDelayMs(policy, failures, chance)

      assert.isTrue(Number.isInteger(delay))
      assert.isAtMost(delay, policy.maxMs)
      assert.isAtLeast(delay, Math.floor(Math.min(policy.baseMs, policy.maxMs) * (1 - policy.jitter)))
    }),
  )
})
