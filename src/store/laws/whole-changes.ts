import assert from "node:assert/strict"
import { DEFAULT_RETRY } from "../../core/backoff.ts"
import {
  ATTEMPTS_KEPT,
  cancel,
  fail,
  type Progress,
  type Run,
  release,
  retry,
  succeed,
} from "../../core/run.ts"
import { aClaim, aHeartbeat, aRun, heldRun } from "./factories.ts"
import { lawCase } from "./law.ts"
import { claimed, enqueued, runById, running } from "./steps.ts"

const OUTPUT = { message: "Sent ✓", details: { sent: 3, to: ["ann"] } }
const FAILURE = { outcome: "failed", error: "Error: no route", retry: "policy", output: OUTPUT } as const

/** Whole, of changes: a step is applied with everything it says and nothing else. */
export const WHOLE_CHANGES = [
  lawCase(
    "A run that succeeded has everything the change said, and its attempt in its story",
    async (store) => {
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
    },
  ),
  lawCase("A run whose attempt failed waits again, and its story says why", async (store) => {
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
  lawCase("The story holds every attempt in its order, each with its own worker and end", async (store) => {
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
        [2, "w2", "released", null],
        [3, "w3", "cancelled", null],
      ],
    )
  }),
  lawCase("The story keeps the newest fifty attempts; the counts go on", async (store) => {
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
  lawCase("A change that ends no attempt adds none to the story", async (store) => {
    const run = await enqueued(store, aRun())

    await store.transition([cancel(run, { reason: "not needed", by: "ann" })!])
    const cancelled = await runById(store, run.id)
    await store.transition([retry(cancelled, "bob")!])

    assert.deepEqual([cancelled.state, cancelled.attempts], ["cancelled", []])
    const after = await runById(store, run.id)
    assert.deepEqual([after.state, after.attempt, after.attempts], ["pending", 0, []])
  }),
  lawCase("A change replaces message, details and error, also by nothing", async (store) => {
    const first = await running(store, aRun())
    await store.transition([fail(first, FAILURE, { ...DEFAULT_RETRY, baseMs: 0 }, 0)])
    const second = await claimed(store, first.id)

    await store.transition([succeed(second, { message: null, details: null })])

    const { message, details, error } = await runById(store, first.id)
    assert.deepEqual({ message, details, error }, { message: null, details: null, error: null })
  }),
  lawCase(
    "A first attempt replaces the message that its run was made with, also by nothing",
    async (store) => {
      const run = await running(store, aRun({ message: "made by hand" }))

      await store.transition([succeed(run, { message: null, details: null })])

      assert.deepEqual([run.message, (await runById(store, run.id)).message], ["made by hand", null])
    },
  ),
  lawCase("A change stores the progress it carries, and without any leaves what is stored", async (store) => {
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
  lawCase("A reason and a name stay until another is given", async (store) => {
    const run = await running(store, aRun({ reason: "asked", by: "ann" }))
    const failed = { ...FAILURE, retry: "never" } as const

    await store.transition([fail(run, failed, DEFAULT_RETRY, 0)])
    const afterSilence = await runById(store, run.id)
    await store.transition([{ ...retry(afterSilence, "bob")!, reason: "again" }])

    assert.deepEqual([afterSilence.reason, afterSilence.by], ["asked", "ann"])
    const afterWord = await runById(store, run.id)
    assert.deepEqual([afterWord.reason, afterWord.by], ["again", "bob"])
  }),
  lawCase(
    "A finished run has its completion and is due never; a revived one is due and has none",
    async (store) => {
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
    },
  ),
  lawCase("The counts of failures and losses are the change's, whatever they were", async (store) => {
    const run = await running(store, aRun())

    await store.transition([{ ...succeed(run, OUTPUT), failures: 4, lost: 2 }])

    const after = await runById(store, run.id)
    assert.deepEqual([after.failures, after.lost], [4, 2])
  }),
  lawCase("Each change of a call is judged by itself, and answered in its place", async (store) => {
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
