import assert from "node:assert/strict"
import { DEFAULT_RETRY } from "../../core/run/backoff.ts"
import { cancel, fail, type Run, type RunChange, release, retry, succeed } from "../../core/run/run.ts"
import { type EndState, NO_RUNS } from "../../core/schedule/schedule.ts"
import { tallyOf } from "../../core/schedule/schedule-tally.ts"
import type { Store } from "../store.ts"
import { aClaim, aPruning, aRunOf, aSchedule, aSkip, DISTINCT_MS } from "./factories.ts"
import { lawCase } from "./law.ts"
import {
  assertDated,
  claimed,
  created,
  deleteSchedule,
  putAgain,
  running,
  scheduleById,
  several,
  timed,
  together,
  withPeers,
} from "./steps.ts"

/** Whole, for ends: the step that ends a run records on its schedule how the run ended. */
export const WHOLE_ENDS = [
  lawCase("A schedule records how its last run ended, and its failures in a row", async (store) => {
    await created(store, aSchedule({ id: "s1" }))
    const expected: readonly [EndState, failures: number][] = [
      ["failed", 1],
      ["failed", 2],
      ["cancelled", 2],
      ["failed", 3],
      ["succeeded", 0],
      ["cancelled", 0],
      ["failed", 1],
    ]

    for (const [state, failures] of expected) {
      await store.transition([endOf(await running(store, aRunOf("s1")), state)])
      assert.deepEqual(await endsOf(store), [state, failures])
    }
  }),
  lawCase("A schedule records when a run last ended and last succeeded", async (store, lab) => {
    await created(store, aSchedule({ id: "s1" }))
    const first = await running(store, aRunOf("s1"))
    const second = await running(store, aRunOf("s1"))

    const { span: success } = await timed(store, () => store.transition([endOf(first, "succeeded")]))
    await lab.pass(DISTINCT_MS)
    const { span: failure } = await timed(store, () => store.transition([endOf(second, "failed")]))

    const { lastEndedAt, lastSuccessAt } = await scheduleById(store, "s1")
    assertDated(lastEndedAt, failure, "the last end")
    assertDated(lastSuccessAt, success, "the last success")
  }),
  lawCase("Runs that end in one call end in the order of the call", async (store) => {
    await created(store, aSchedule({ id: "s1" }))
    await created(store, aSchedule({ id: "s2" }))
    const ended = async (scheduleId: string, ...states: readonly EndState[]) => {
      const runs: Run[] = []
      for (const _ of states) runs.push(await running(store, aRunOf(scheduleId)))
      // So that the order of the call is not the order of creation, and of ids.
      runs.reverse()
      return runs.map((run, index) => endOf(run, states[index]!))
    }

    await store.transition([
      ...(await ended("s1", "failed", "succeeded", "failed", "failed")),
      ...(await ended("s2", "failed", "failed")),
    ])
    assert.deepEqual(await endsOf(store, "s1"), ["failed", 2])
    assert.deepEqual(await endsOf(store, "s2"), ["failed", 2])
    await store.transition([
      ...(await ended("s1", "failed", "cancelled")),
      ...(await ended("s2", "failed", "succeeded")),
    ])
    assert.deepEqual(await endsOf(store, "s1"), ["cancelled", 3])
    assert.deepEqual(await endsOf(store, "s2"), ["succeeded", 0])
  }),
  lawCase("A skip, a release, a stale change and a retry don't count as ends", async (store) => {
    await created(store, aSchedule({ id: "s1" }))
    const run = await running(store, aRunOf("s1"))
    const failure = endOf(run, "failed")

    await store.enqueue([aSkip({ scheduleId: "s1" })])
    await store.transition([release(run, "stopping")])
    await store.transition([failure])
    assert.deepEqual(await endsOf(store), [null, 0])
    const again = endOf(await claimed(store, run.id), "failed")
    await store.transition([again, again])
    await store.transition([again, failure])
    assert.deepEqual(await endsOf(store), ["failed", 1])
    await store.transition([retry({ ...run, state: "failed", attempt: 2 }, null)!])
    assert.deepEqual(await endsOf(store), ["failed", 1])
  }),
  lawCase("A pending run that is cancelled counts as ended", async (store) => {
    await created(store, aSchedule({ id: "s1" }))
    const run = aRunOf("s1")
    await store.enqueue([run])

    await store.transition([endOf((await store.readRuns([run.id]))[0]!, "cancelled")])

    assert.deepEqual(await endsOf(store), ["cancelled", 0])
  }),
  lawCase("An end doesn't change the version, and an edit doesn't change the ends", async (store) => {
    const schedule = await created(store, aSchedule({ id: "s1" }))
    await store.transition([endOf(await running(store, aRunOf("s1")), "failed")])

    const after = await scheduleById(store, "s1")
    await putAgain(store, after, { description: "edited" })

    assert.deepEqual({ ...after, ...NO_RUNS }, schedule)
    const { version: _, ...edited } = await scheduleById(store, "s1")
    const { version: __, ...before } = after
    assert.deepEqual(edited, { ...before, description: "edited" })
  }),
  lawCase("Pruning runs doesn't change the recorded ends", async (store, lab) => {
    await created(store, aSchedule({ id: "s1", coveredUntil: await store.now() }))
    for (const state of ["succeeded", "failed"] as const)
      await store.transition([endOf(await running(store, aRunOf("s1")), state)])
    const before = tallyOf(await scheduleById(store, "s1"))
    await lab.pass(DISTINCT_MS)

    const { runs } = await store.prune(aPruning({ olderThanMs: 0 }))

    assert.equal(runs, 2)
    assert.deepEqual(tallyOf(await scheduleById(store, "s1")), before)
  }),
  lawCase("A schedule that is deleted and created again has no recorded ends", async (store) => {
    const schedule = await created(store, aSchedule({ id: "s1" }))
    const [ended, late] = [await running(store, aRunOf("s1")), await running(store, aRunOf("s1"))]
    await store.transition([endOf(ended, "failed")])
    await deleteSchedule(store, schedule)
    await store.transition([endOf(late, "failed")])

    const made = await created(store, aSchedule({ id: "s1" }))

    assert.deepEqual(tallyOf(made), NO_RUNS)
  }),
  lawCase("Runs that several callers end at once are all counted", async (store, lab) => {
    await created(store, aSchedule({ id: "s1" }))
    await created(store, aSchedule({ id: "s2" }))
    await store.enqueue(several(60, (index) => aRunOf(index % 2 === 0 ? "s1" : "s2")))
    const { runs } = await store.claim(aClaim())
    const peers = await withPeers(store, lab)

    await together(peers, 20, (peer, index) =>
      peer.transition(runs.slice(3 * index, 3 * index + 3).map((run) => endOf(run, "failed"))),
    )

    assert.deepEqual(await endsOf(store, "s1"), ["failed", 30])
    assert.deepEqual(await endsOf(store, "s2"), ["failed", 30])
  }),
]

const NOTHING = { message: null, details: null }
const BROKEN = { outcome: "failed", error: "Broken", retry: "never", output: NOTHING } as const

function endOf(run: Run, state: EndState): RunChange {
  if (state === "succeeded") return succeed(run, NOTHING)
  if (state === "failed") return fail(run, BROKEN, DEFAULT_RETRY, 0)
  return cancel(run, { reason: null, by: null })!
}

async function endsOf(store: Store, id = "s1"): Promise<readonly [EndState | null, number]> {
  const { lastState, failuresInARow } = await scheduleById(store, id)
  return [lastState, failuresInARow]
}
