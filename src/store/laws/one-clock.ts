import assert from "node:assert/strict"
import { DEFAULT_RETRY } from "../../core/run/backoff.ts"
import { fail, succeed } from "../../core/run/run.ts"
import { ONE_CLOCK_DOCUMENTS } from "./documents.ts"
import {
  aClaim,
  aHeartbeat,
  aLogLine,
  aPlan,
  aRun,
  aSchedule,
  aSkip,
  heldRun,
  LONG_MS,
  SHORT_MS,
} from "./factories.ts"
import { ONE_CLOCK_JOURNAL } from "./journal.ts"
import { type Law, lawCase } from "./law.ts"
import { ONE_CLOCK_DUE } from "./one-clock-due.ts"
import { ONE_CLOCK_DUE_AT } from "./one-clock-due-at.ts"
import { ONE_CLOCK_STATISTICS } from "./statistics.ts"
import {
  abandoned,
  allWorkers,
  assertDated,
  created,
  enqueued,
  idsOf,
  logOf,
  runById,
  running,
  timed,
} from "./steps.ts"

const NOTHING = { message: null, details: null }

const dating = [
  lawCase("The store's clock advances", async (store, lab) => {
    const before = await store.now()
    await lab.pass(2 * SHORT_MS)
    const after = await store.now()

    assert.ok(after - before >= SHORT_MS, `${after - before} ms passed in ${2 * SHORT_MS}`)
  }),
  lawCase("A run is dated by the store's clock, whether enqueued or fired", async (store, lab) => {
    const schedule = await created(store, aSchedule())
    await lab.pass(SHORT_MS)

    const { span } = await timed(store, async () => {
      await store.enqueue([aRun({ id: "enqueued" }), aSkip({ id: "skipped" })])
      await store.fire([aPlan(schedule, { runs: [aRun({ id: "fired" })] })])
    })

    for (const id of ["enqueued", "skipped", "fired"]) {
      assertDated((await runById(store, id)).createdAt, span, `createdAt of the ${id} run`)
    }
    assertDated((await runById(store, "skipped")).completedAt, span, "a skip's completedAt")
    assertDated((await runById(store, "fired")).claimableAt, span, "a fired run's claimableAt")
  }),
  lawCase("A delay is counted from the store's now", async (store, lab) => {
    const schedule = await created(store, aSchedule())
    await lab.pass(SHORT_MS)

    const { span } = await timed(store, async () => {
      await store.enqueue([aRun({ id: "enqueued", delayMs: 5_000 })])
      await store.fire([aPlan(schedule, { runs: [aRun({ id: "fired", delayMs: 5_000 })] })])
    })

    assertDated((await runById(store, "enqueued")).claimableAt, span, "claimableAt", 5_000)
    assertDated((await runById(store, "fired")).claimableAt, span, "claimableAt", 5_000)
  }),
  lawCase("A run with a delay and a `notBefore` is due at the later of the two", async (store) => {
    const notBefore = (await store.now()) + LONG_MS
    const { span } = await timed(store, () =>
      store.enqueue([
        aRun({ id: "instant", delayMs: 1_000, notBefore }),
        aRun({ id: "delay", delayMs: 2 * LONG_MS, notBefore }),
        aRun({ id: "past", notBefore: notBefore - 2 * LONG_MS }),
      ]),
    )

    assert.equal((await runById(store, "instant")).claimableAt, notBefore)
    assertDated((await runById(store, "delay")).claimableAt, span, "claimableAt", 2 * LONG_MS)
    assertDated((await runById(store, "past")).claimableAt, span, "claimableAt")
  }),
  lawCase("A lease is counted from the claim, with its own task's `leaseMs`", async (store, lab) => {
    await store.enqueue([aRun({ id: "a", task: "short" }), aRun({ id: "b", task: "long" })])
    await lab.pass(SHORT_MS)
    const tasks = [
      { name: "short", leaseMs: 40_000 },
      { name: "long", leaseMs: 90_000 },
    ]

    const { result, span } = await timed(store, () => store.claim(aClaim({ tasks })))

    assertDated(result.now, span, "the claim's now")
    for (const run of result.runs) {
      assertDated(run.startedAt, span, "startedAt")
      assertDated(run.claimableAt, span, "the lease's end", run.id === "a" ? 40_000 : 90_000)
    }
    assert.equal(result.runs.length, 2)
  }),
  lawCase(
    "A heartbeat extends a lease from now, also an ended one of a run not taken",
    async (store, lab) => {
      const ended = await abandoned(store, lab, aRun())
      const fresh = await running(store, aRun({ task: "other" }))

      const held = [ended, fresh].map((run) => heldRun(run, { leaseMs: LONG_MS / 2 }))
      const { result, span } = await timed(store, () => store.heartbeat(aHeartbeat({ held })))

      assertDated(result.now, span, "the heartbeat's now")
      assert.deepEqual(result.gone, [])
      for (const { id } of [ended, fresh]) {
        const run = await runById(store, id)
        assertDated(run.claimableAt, span, "the lease's end", LONG_MS / 2)
        assert.deepEqual([run.state, run.attempt, run.lost], ["running", 1, 0])
      }
      assert.deepEqual((await store.claim(aClaim())).runs, [])
    },
  ),
  lawCase("A change is dated by the store's clock", async (store, lab) => {
    const [first, second] = [await running(store, aRun()), await running(store, aRun())]
    const failure = {
      outcome: "failed",
      error: "Error",
      retry: { afterMs: 30_000 },
      output: NOTHING,
    } as const
    await lab.pass(SHORT_MS)

    const { span } = await timed(store, () =>
      store.transition([succeed(first, NOTHING), fail(second, failure, DEFAULT_RETRY, 0)]),
    )

    const [succeeded, waiting] = [await runById(store, first.id), await runById(store, second.id)]
    assertDated(succeeded.completedAt, span, "completedAt")
    assertDated(succeeded.attempts[0]!.endedAt, span, "the attempt's end")
    assertDated(waiting.claimableAt, span, "claimableAt", 30_000)
    assertDated(waiting.attempts[0]!.endedAt, span, "the attempt's end")
    assert.equal(succeeded.startedAt, first.startedAt)
  }),
  lawCase("A log line is dated by the store's now minus its `agoMs`", async (store, lab) => {
    const { id } = await enqueued(store, aRun())
    await lab.pass(SHORT_MS)

    const { span } = await timed(store, () =>
      store.appendLogs([aLogLine(id, { number: 1, agoMs: 2_500 }), aLogLine(id, { number: 2 })]),
    )

    const lines = await logOf(store, id)
    assertDated(lines[0]!.at, span, "a line of 2.5 s ago", -2_500)
    assertDated(lines[1]!.at, span, "a line of now")
  }),
  lawCase("A worker's `startedAt` is its first heartbeat, `heartbeatAt` the last one", async (store, lab) => {
    const run = await running(store, aRun())

    const first = await timed(store, () => store.heartbeat(aHeartbeat()))
    await lab.pass(SHORT_MS)
    const second = await timed(store, () => store.heartbeat(aHeartbeat({ held: [heldRun(run)] })))

    const workers = await allWorkers(store)
    assert.deepEqual(idsOf(workers), ["worker"])
    assertDated(workers[0]!.startedAt, first.span, "startedAt")
    assertDated(workers[0]!.heartbeatAt, second.span, "heartbeatAt")
    assert.equal(workers[0]!.running, 1)
  }),
]

export const ONE_CLOCK: Law = {
  number: 2,
  name: "One clock",
  statement: '"Now" is the store\'s own clock, read inside the operation. Callers send durations.',
  cases: [
    ...dating,
    ...ONE_CLOCK_DUE,
    ...ONE_CLOCK_DUE_AT,
    ...ONE_CLOCK_DOCUMENTS,
    ...ONE_CLOCK_JOURNAL,
    ...ONE_CLOCK_STATISTICS,
  ],
}
