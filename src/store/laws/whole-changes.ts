import assert from "node:assert/strict"
import { DEFAULT_RETRY } from "../../core/run/backoff.ts"
import {
  ATTEMPTS_KEPT,
  cancel,
  fail,
  type Progress,
  type Run,
  release,
  retry,
  succeed,
} from "../../core/run/run.ts"
import { aClaim, aHeartbeat, aRun, heldRun } from "./factories.ts"
import { lawCase } from "./law.ts"
import { claimed, enqueued, runById, running } from "./steps.ts"

const OUTPUT = { message: "Sent ✓", details: { sent: 3, to: ["ann"] } }
const FAILURE = { outcome: "failed", error: "Error: no route", retry: "policy", output: OUTPUT } as const

/** Whole, for changes: every part of a change is applied, and nothing else changes. */
export const WHOLE_CHANGES = [
  lawCase("A run that succeeded has all of the change, and its attempt is recorded", async (store) => {
    const run = await running(store, aRun({ payload: { a: 1 }, reason: "asked", by: "ann" }), {
      workerId: "w1",
    })

    assert.deepEqual(await store.transition([succeed(run, OUTPUT)]), [{ outcome: "done" }])

    const after = await runById(store, run.id)
    const { completedAt } = after
    const endedAt = after.attempts[0]?.endedAt
    const ended = {
      attempt: 1,
      workerId: "w1",
      dueAt: run.dueAt,
      startedAt: run.startedAt,
      outcome: "succeeded",
      error: null,
    }
    assert.deepEqual(after, {
      ...run,
      ...OUTPUT,
      ...{ state: "succeeded", claimableAt: null, workerId: null, completedAt },
      attempts: [{ ...ended, endedAt }],
    })
  }),
  lawCase("A run whose attempt failed is pending again, and the attempt records the error", async (store) => {
    const run = await running(store, aRun(), { workerId: "w1" })
    const policy = { ...DEFAULT_RETRY, baseMs: 0 }

    await store.transition([fail(run, FAILURE, policy, 0)])

    const after = await runById(store, run.id)
    assert.deepEqual(
      [after.state, after.attempt, after.failures, after.lost, after.completedAt, after.workerId],
      ["pending", 1, 1, 0, null, null],
    )
    assert.deepEqual(
      [after.error, after.message, after.details],
      [FAILURE.error, OUTPUT.message, OUTPUT.details],
    )
    const [{ endedAt, ...story }] = after.attempts as [(typeof after.attempts)[0]]
    const { dueAt, startedAt } = run
    assert.deepEqual(story, {
      attempt: 1,
      workerId: "w1",
      dueAt,
      startedAt,
      outcome: "failed",
      error: FAILURE.error,
    })
    assert.ok(endedAt >= startedAt!)
  }),
  lawCase("A run records its attempts in order, each with its worker and its outcome", async (store) => {
    const { id } = await enqueued(store, aRun())
    const policy = { ...DEFAULT_RETRY, baseMs: 0 }

    const first = await claimed(store, id, { workerId: "w1" })
    await store.transition([fail(first, { ...FAILURE, outcome: "timeout" }, policy, 0)])
    const second = await claimed(store, id, { workerId: "w2" })
    await store.transition([release(second, "stopping")])
    const third = await claimed(store, id, { workerId: "w3" })
    await store.transition([cancel(third, { reason: null, by: null })!])

    const { attempts } = await runById(store, id)
    assert.deepEqual(
      attempts.map(({ attempt, workerId, outcome, error }) => [attempt, workerId, outcome, error]),
      [
        [1, "w1", "timeout", FAILURE.error],
        [2, "w2", "released", "stopping"],
        [3, "w3", "cancelled", null],
      ],
    )
  }),
  lawCase("A run keeps its newest fifty attempts, and the attempt number goes on rising", async (store) => {
    const { id } = await enqueued(store, aRun())

    for (let attempt = 1; attempt <= ATTEMPTS_KEPT + 2; attempt++) {
      const run = await claimed(store, id, { workerId: `w${attempt}` })
      await store.transition([release(run, "stopping")])
    }

    const { attempt, attempts } = await runById(store, id)
    assert.equal(attempt, ATTEMPTS_KEPT + 2)
    assert.deepEqual(
      attempts.map((each) => each.workerId),
      Array.from({ length: ATTEMPTS_KEPT }, (_, index) => `w${index + 3}`),
    )
  }),
  lawCase("A change that ends no attempt records no attempt", async (store) => {
    const run = await enqueued(store, aRun())

    await store.transition([cancel(run, { reason: "not needed", by: "ann" })!])
    const cancelled = await runById(store, run.id)
    await store.transition([retry(cancelled, "bob")!])

    assert.deepEqual([cancelled.state, cancelled.attempts], ["cancelled", []])
    const after = await runById(store, run.id)
    assert.deepEqual([after.state, after.attempt, after.attempts], ["pending", 0, []])
  }),
  lawCase("A change replaces message, details and error, also by null", async (store) => {
    const first = await running(store, aRun())
    await store.transition([fail(first, FAILURE, { ...DEFAULT_RETRY, baseMs: 0 }, 0)])
    const second = await claimed(store, first.id)

    await store.transition([succeed(second, { message: null, details: null })])

    const { message, details, error } = await runById(store, first.id)
    assert.deepEqual({ message, details, error }, { message: null, details: null, error: null })
  }),
  lawCase("The first attempt replaces the message of its run's creation, also by null", async (store) => {
    const run = await running(store, aRun({ message: "made by hand" }))

    await store.transition([succeed(run, { message: null, details: null })])

    assert.deepEqual([run.message, (await runById(store, run.id)).message], ["made by hand", null])
  }),
  lawCase("A change stores its progress; null keeps the stored progress", async (store) => {
    const [half, whole] = [0.5, 1].map((fraction) => ({ fraction, message: `${fraction} ✓` })) as [
      Progress,
      Progress,
    ]
    const [first, second, third] = [
      await running(store, aRun()),
      await running(store, aRun()),
      await running(store, aRun()),
    ]
    await store.heartbeat(
      aHeartbeat({ held: [first, second].map((run) => heldRun(run, { progress: half })) }),
    )

    await store.transition([
      { ...succeed(first, OUTPUT), progress: whole },
      succeed(second, OUTPUT),
      { ...release(third, "stopping"), progress: half },
    ])

    const progress = async ({ id }: Run) => (await runById(store, id)).progress
    assert.deepEqual(
      [await progress(first), await progress(second), await progress(third)],
      [whole, half, half],
    )
    assert.equal((await claimed(store, third.id)).progress, null)
  }),
  lawCase("The reason and `by` stay until a change sets new ones", async (store) => {
    const run = await running(store, aRun({ reason: "asked", by: "ann" }))
    const failed = { ...FAILURE, retry: "never" } as const

    await store.transition([fail(run, failed, DEFAULT_RETRY, 0)])
    const afterFailure = await runById(store, run.id)
    await store.transition([{ ...retry(afterFailure, "bob")!, reason: "again" }])

    assert.deepEqual([afterFailure.reason, afterFailure.by], ["asked", "ann"])
    const afterRetry = await runById(store, run.id)
    assert.deepEqual([afterRetry.reason, afterRetry.by], ["again", "bob"])
  }),
  lawCase("A finished run has a completion and is never due; a retried run is due again", async (store) => {
    const run = await running(store, aRun())

    await store.transition([cancel(run, { reason: null, by: null })!])
    const cancelled = await runById(store, run.id)
    await store.transition([retry(cancelled, null)!])

    assert.ok(cancelled.completedAt !== null && cancelled.completedAt >= run.startedAt!)
    assert.equal(cancelled.claimableAt, null)
    const revived = await runById(store, run.id)
    assert.deepEqual([revived.state, revived.completedAt], ["pending", null])
    assert.ok(revived.claimableAt !== null)
    assert.equal((await claimed(store, run.id)).attempt, 2)
  }),
  lawCase("The counts of failures and lost attempts are set to the change's values", async (store) => {
    const run = await running(store, aRun())

    await store.transition([{ ...succeed(run, OUTPUT), failures: 4, lost: 2 }])

    const after = await runById(store, run.id)
    assert.deepEqual([after.failures, after.lost], [4, 2])
  }),
  lawCase("Each change of a call is decided by itself, and answered in order", async (store) => {
    const ids = ["a", "b", "c"]
    await store.enqueue(ids.map((id) => aRun({ id })))
    const { runs } = await store.claim(aClaim())
    const [a, b, c] = ids.map((id) => runs.find((run) => run.id === id)!) as [
      (typeof runs)[0],
      (typeof runs)[0],
      (typeof runs)[0],
    ]
    await store.transition([succeed(b, OUTPUT)])

    const answers = await store.transition([a, b, c].map((run) => cancel(run, { reason: null, by: null })!))

    assert.deepEqual(answers, [
      { outcome: "done" },
      { outcome: "stale", state: "succeeded", attempt: 1 },
      { outcome: "done" },
    ])
    const states = await Promise.all(ids.map(async (id) => (await runById(store, id)).state))
    assert.deepEqual(states, ["cancelled", "succeeded", "cancelled"])
  }),
]
