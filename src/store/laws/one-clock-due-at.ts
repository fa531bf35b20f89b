import assert from "node:assert/strict"
import { DEFAULT_RETRY } from "../../core/run/backoff.ts"
import { fail, succeed } from "../../core/run/run.ts"
import { aClaim, aPlan, aRun, aSchedule, LONG_MS, SHORT_MS } from "./factories.ts"
import { lawCase } from "./law.ts"
import { assertDated, claimed, created, enqueued, runById, running, timed } from "./steps.ts"

const NOTHING = { message: null, details: null }
const FAILURE = { outcome: "failed", error: "Error", retry: { afterMs: SHORT_MS }, output: NOTHING } as const
const SHORT_LEASE = { tasks: [{ name: "report", leaseMs: SHORT_MS }] }

/** One clock, for when an attempt was due: lateness is counted from this instant. */
export const ONE_CLOCK_DUE_AT = [
  lawCase("A run whose `delayMs` is null is due at its `notBefore`, even in the past", async (store) => {
    const schedule = await created(store, aSchedule())
    const now = await store.now()
    const [past, future] = [now - LONG_MS, now + LONG_MS]
    const { span } = await timed(store, async () => {
      await store.enqueue([
        aRun({ id: "other", delayMs: 0 }),
        aRun({ id: "past", delayMs: null, notBefore: past }),
        aRun({ id: "future", delayMs: null, notBefore: future }),
        aRun({ id: "neither", delayMs: null }),
      ])
      await store.fire([aPlan(schedule, { runs: [aRun({ id: "fired", delayMs: null, notBefore: past })] })])
    })

    const claimableAt = async (id: string) => (await runById(store, id)).claimableAt
    assert.deepEqual(
      [await claimableAt("past"), await claimableAt("future"), await claimableAt("fired")],
      [past, future, past],
    )
    for (const id of ["other", "neither"]) assertDated(await claimableAt(id), span, `claimableAt of ${id}`)
  }),
  lawCase("A run has no `dueAt` before its first claim", async (store) => {
    const { dueAt } = await enqueued(store, aRun({ notBefore: await store.now() }))

    assert.equal(dueAt, null)
  }),
  lawCase("An attempt's `dueAt` is the end of the delay, back-off or lease before it", async (store, lab) => {
    const { id } = await enqueued(store, aRun({ delayMs: SHORT_MS }))
    const ends: (number | null)[] = []
    const next = async (claim = {}) => {
      ends.push((await runById(store, id)).claimableAt)
      await lab.pass(2 * SHORT_MS)
      return claimed(store, id, claim)
    }

    const delayed = await next()
    await store.transition([fail(delayed, FAILURE, DEFAULT_RETRY, 0)])
    const retried = await next(SHORT_LEASE)
    const takenOver = await next()
    await store.transition([succeed(takenOver, NOTHING)])

    assert.deepEqual([delayed.dueAt, retried.dueAt, takenOver.dueAt], ends)
    const { dueAt, attempts } = await runById(store, id)
    assert.equal(dueAt, ends[2], "the run keeps the `dueAt` of its newest attempt")
    assert.deepEqual(
      attempts.map((attempt) => attempt.dueAt),
      ends,
    )
  }),
  lawCase("The `dueAt` of a run that waited for its key is the end of its delay", async (store, lab) => {
    const key = { concurrencyKey: "key", concurrencyLimit: 1 }
    const first = await running(store, aRun(key))
    const { id, claimableAt } = await enqueued(store, aRun(key))
    await store.claim(aClaim())
    await lab.pass(SHORT_MS)

    await store.transition([succeed(first, NOTHING)])
    const second = await claimed(store, id)

    assert.equal(second.dueAt, claimableAt)
    assert.ok(second.startedAt! > second.dueAt!)
  }),
]
