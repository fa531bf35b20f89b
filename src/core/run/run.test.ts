import { assert, describe, test } from "vitest"
import { aRetry, aRunRef } from "../../../test/support/records.ts"
import {
  type Attempt,
  type AttemptOutcome,
  cancel,
  claimableAfter,
  type Failure,
  fail,
  firstClaimableAt,
  giveUp,
  isAlreadyMade,
  isFinished,
  isPoison,
  isRange,
  LOST_MAX,
  poisonWords,
  type RunState,
  release,
  retry,
  succeed,
} from "./run.ts"

const running = aRunRef({ id: "r1", state: "running", attempt: 3, failures: 1, lost: 1 })

function aFailure(fields: Partial<Failure> = {}): Failure {
  return {
    outcome: "failed",
    error: "boom",
    retry: "policy",
    output: { message: null, details: null },
    ...fields,
  }
}

const FINISHED: readonly RunState[] = ["succeeded", "failed", "cancelled", "skipped"]

test.each<[RunState, boolean]>([
  ["pending", false],
  ["running", false],
  ...FINISHED.map((state): [RunState, boolean] => [state, true]),
])("isFinished of a %s run is %s", (state, expected) => {
  assert.equal(isFinished(state), expected)
})

test("only a skipped record is a range, and a run that stands for missed occurrences isn't", () => {
  const missed = { from: 0, until: 5, count: 2 }

  assert.isTrue(isRange({ state: "skipped", missed }))
  assert.isFalse(isRange({ state: "skipped", missed: null }))
  assert.isFalse(isRange({ state: "pending", missed }))
})

test.each([
  ["succeed", succeed(running, { message: null, details: null })],
  ["fail", fail(running, aFailure(), aRetry(), 0)],
  ["release", release(running, "stopping")],
  ["give up", giveUp(running, "lost")],
  ["cancel", cancel(running, { reason: null, by: null })],
])("the change by %s names the state and the attempt it was decided on", (_, change) => {
  assert.deepInclude(change, { runId: "r1", ifState: "running", ifAttempt: 3 })
})

test("success ends the run with the message and details that the task returned", () => {
  const change = succeed(running, { message: "12 sent", details: { sent: 12 } })

  assert.deepInclude(change, { state: "succeeded", outcome: "succeeded", claimableInMs: null, error: null })
  assert.deepInclude(change, { message: "12 sent", details: { sent: 12 }, failures: 1, lost: 1 })
})

test.each(["pending", "succeeded", "failed", "cancelled"] as const)(
  "a %s run has no attempt to end",
  (state) => {
    assert.throws(
      () => succeed(aRunRef({ state }), { message: null, details: null }),
      "Belfry invariant broken: only a running run has an attempt to end",
    )
  },
)

describe("failure", () => {
  const policy = aRetry({ attempts: 3, backoff: "fixed", baseMs: 1_000, jitter: 0 })

  test.each<[number, RunState, number | null, number]>([
    [0, "pending", 1_000, 1],
    [1, "pending", 1_000, 2],
    [2, "failed", null, 3],
    [7, "failed", null, 8],
  ])(
    "with 3 attempts allowed, a run with %d earlier failures becomes %s",
    (before, state, claimableInMs, failures) => {
      const change = fail(aRunRef({ failures: before, attempt: 9 }), aFailure(), policy, 0)

      assert.deepInclude(change, { state, claimableInMs, failures, outcome: "failed", error: "boom" })
    },
  )

  test("lost and released attempts don't count as failures", () => {
    const change = fail(aRunRef({ failures: 0, attempt: 9, lost: 2 }), aFailure(), policy, 0)

    assert.deepInclude(change, { state: "pending", lost: 2 })
  })

  test("DoNotRetry fails the run at once", () => {
    const change = fail(aRunRef(), aFailure({ retry: "never" }), policy, 0)

    assert.deepInclude(change, { state: "failed", claimableInMs: null, failures: 1 })
  })

  test("RetryAfter sets the delay, without jitter", () => {
    const change = fail(aRunRef(), aFailure({ retry: { afterMs: 77 } }), aRetry({ jitter: 1 }), 0.9)

    assert.deepInclude(change, { state: "pending", claimableInMs: 77 })
  })

  test("RetryAfter doesn't add attempts to the policy", () => {
    const change = fail(aRunRef({ failures: 2 }), aFailure({ retry: { afterMs: 77 } }), policy, 0)

    assert.deepInclude(change, { state: "failed", claimableInMs: null })
  })

  test("a timeout has its own outcome", () => {
    assert.equal(fail(running, aFailure({ outcome: "timeout" }), policy, 0).outcome, "timeout")
  })

  test("the output of a failed attempt is stored", () => {
    const output = { message: "3 of 5", details: { done: 3 } }

    assert.deepInclude(fail(running, aFailure({ output }), policy, 0), { ...output, error: "boom" })
  })
})

test("a released run is claimable at once, at its old position, and counts no failure", () => {
  assert.deepInclude(release(running, "stopping"), {
    state: "pending",
    outcome: "released",
    claimableInMs: null,
    failures: 1,
    reason: null,
    error: "stopping",
  })
})

test.each<[lost: number, attempts: readonly (readonly [number, AttemptOutcome])[], expected: boolean]>([
  [0, [], false],
  [LOST_MAX - 1, [], false],
  [LOST_MAX, [], true],
  [0, [1, 2, 3, 4].map((attempt) => [attempt, "unconfirmed"]), false],
  [LOST_MAX - 2, [[1, "unconfirmed"]], false],
  [LOST_MAX - 1, [[1, "unconfirmed"]], true],
  [LOST_MAX - 1, [[2, "unconfirmed"]], false],
  [LOST_MAX - 1, [[1, "released"]], false],
])("for a run with %i lost attempts and the attempts %j, isPoison is %s", (lost, attempts, expected) => {
  const recorded = attempts.map(([attempt, outcome]) => anAttempt({ attempt, outcome }))
  assert.equal(isPoison({ lost, attempts: recorded }), expected)
})

test("a run that cost too many workers fails as lost", () => {
  const first = anAttempt({ attempt: 1, outcome: "unconfirmed" })
  const error = poisonWords({ ...aRunRef({ lost: 2 }), attempts: [first] })
  assert.equal(
    error,
    "Lost: 2 attempts were confirmed by workers that then stopped sending heartbeats. Attempt 1 was not confirmed, and may have begun.",
  )
  assert.deepInclude(giveUp(aRunRef({ lost: 3 }), poisonWords({ ...aRunRef({ lost: 3 }), attempts: [] })), {
    state: "failed",
    outcome: "given-up",
    reason: "lost",
    claimableInMs: null,
    error: "Lost: 3 attempts were confirmed by workers that then stopped sending heartbeats.",
  })
})

describe("cancel", () => {
  const why = { reason: "wrong month", by: "ada" }

  test("cancelling a running run ends its attempt", () => {
    assert.deepInclude(cancel(running, why), {
      state: "cancelled",
      outcome: "cancelled",
      claimableInMs: null,
      ...why,
    })
  })

  test("cancelling a pending run ends no attempt", () => {
    assert.deepInclude(cancel(aRunRef({ state: "pending" }), why), { state: "cancelled", outcome: null })
  })

  test.each(FINISHED)("cancelling a %s run changes nothing", (state) => {
    assert.isNull(cancel(aRunRef({ state }), why))
  })
})

describe("an operator's retry", () => {
  test.each(["failed", "cancelled"] as const)(
    "the retry of a %s run resets its failures and keeps its attempt number",
    (state) => {
      const change = retry(aRunRef({ state, attempt: 3, failures: 3, lost: 2 }), "ada", "fixed")

      assert.deepInclude(change, {
        reason: "fixed",
        state: "pending",
        ifState: state,
        ifAttempt: 3,
        claimableInMs: 0,
      })
      assert.deepInclude(change, { failures: 0, lost: 0, outcome: null, error: null, by: "ada" })
    },
  )

  test.each(["pending", "running", "succeeded", "skipped"] as const)(
    "the retry of a %s run changes nothing",
    (state) => {
      assert.isNull(retry(aRunRef({ state }), null))
    },
  )
})

test.each([
  ["succeeded", 3, true],
  ["succeeded", 4, false],
  ["running", 3, false],
  ["cancelled", 3, false],
  [null, 0, false],
] as const)(
  "for a success of attempt 3 on a run that is %s at attempt %d, isAlreadyMade is %s",
  (state, attempt, made) => {
    const change = succeed(running, { message: null, details: null })

    assert.equal(isAlreadyMade(change, { state, attempt }), made)
  },
)

test.each([
  ["a finished run is never claimable", "failed", null, 500, null],
  ["a pending run with a delay is claimable after it", "pending", 30, 500, 1_030],
  ["a pending run without a delay is claimable since its due time", "pending", null, 500, 500],
  ["a pending run without a due time is claimable now", "pending", null, null, 1_000],
] as const)("after a change, %s", (_, state, claimableInMs, dueAt, claimableAt) => {
  assert.equal(claimableAfter({ state, claimableInMs }, dueAt, 1_000), claimableAt)
})

test.each([
  ["now, without a delay and without notBefore", null, null, 1_000],
  ["after its delay", 30, null, 1_030],
  ["at notBefore, even if that has passed", null, 400, 400],
  ["at notBefore, if that is later than the end of the delay", 30, 2_000, 2_000],
  ["at the end of the delay, if that is later than notBefore", 30, 1_020, 1_030],
] as const)("a new run is first claimable %s", (_, delayMs, notBefore, claimableAt) => {
  assert.equal(firstClaimableAt({ delayMs, notBefore }, 1_000), claimableAt)
})

function anAttempt(over: Partial<Attempt> = {}): Attempt {
  const instants = { dueAt: 0, startedAt: 0, endedAt: 1 }
  return { attempt: 1, workerId: "w1", ...instants, outcome: "failed", error: null, ...over }
}
