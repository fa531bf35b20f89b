import assert from "node:assert/strict"
import { ATTEMPTS_KEPT, cancel, type Run, release, retry, succeed } from "../../core/run/run.ts"
import { ALONE_RACING } from "./alone-racing.ts"
import { aClaim, aHeartbeat, aRun, aSkip, DISTINCT_MS, heldRun, SHORT_MS } from "./factories.ts"
import { type Law, lawCase } from "./law.ts"
import {
  abandoned,
  assertDated,
  claimed,
  confirmed,
  enqueued,
  idsOf,
  runById,
  running,
  several,
  sorted,
  timed,
} from "./steps.ts"

const NOTHING = { message: null, details: null }
const NOBODY = { reason: null, by: null }
const SHORT_LEASE = { tasks: [{ name: "report", leaseMs: SHORT_MS }] }

const giving = [
  lawCase("A claimed run is running, held by the worker, with the next attempt number", async (store) => {
    const before = await enqueued(store, aRun({ payload: { a: 1 } }))

    const { runs } = await store.claim(aClaim({ workerId: "w1" }))

    const { startedAt, claimableAt } = runs[0]!
    const dueAt = before.claimableAt
    const expected = {
      ...before,
      state: "running",
      attempt: 1,
      workerId: "w1",
      dueAt,
      startedAt,
      claimableAt,
    }
    assert.deepEqual(runs, [expected])
    assert.deepEqual(await runById(store, before.id), expected)
    assert.ok(claimableAt! > startedAt!)
  }),
  lawCase("A run that a worker holds isn't given again", async (store) => {
    await running(store, aRun(), { workerId: "first" })

    assert.deepEqual((await store.claim(aClaim({ workerId: "second" }))).runs, [])
    assert.deepEqual((await store.claim(aClaim({ workerId: "first" }))).runs, [])
  }),
  lawCase("A worker is given only runs of the tasks that it names", async (store) => {
    await store.enqueue(
      ["report", "Report", "repórt", "report ", "vacuum", "digest"].map((task) =>
        aRun({ id: `of ${task}`, task }),
      ),
    )
    const tasks = ["report", "digest", "unknown"].map((name) => ({ name, leaseMs: 60_000 }))

    const { runs } = await store.claim(aClaim({ tasks }))

    assert.deepEqual(sorted(idsOf(runs)), ["of digest", "of report"])
  }),
  lawCase("A finished run is never given", async (store) => {
    await store.enqueue(["succeeded", "cancelled"].map((id) => aRun({ id })))
    const { runs } = await store.claim(aClaim())
    await store.transition(
      runs.map((run) => (run.id === "succeeded" ? succeed(run, NOTHING) : cancel(run, NOBODY)!)),
    )
    await enqueued(store, aSkip())

    const claimed = await store.claim(aClaim())

    assert.deepEqual([claimed.runs, claimed.nextClaimableAt], [[], null])
  }),
  lawCase("The attempt rises at each claim and never falls", async (store, lab) => {
    const { id } = await enqueued(store, aRun())

    const first = await claimed(store, id)
    await store.transition([release(first, "stopping")])
    const second = await claimed(store, id, SHORT_LEASE)
    await lab.pass(2 * SHORT_MS)
    const third = await claimed(store, id)
    await store.transition([cancel(third, NOBODY)!])
    await store.transition([retry({ ...third, state: "cancelled" }, null)!])
    const fourth = await claimed(store, id)

    assert.deepEqual(
      [first, second, third, fourth].map((run) => run.attempt),
      [1, 2, 3, 4],
    )
  }),
]

const losing = [
  lawCase("A claimed run has no progress, also if the previous attempt had some", async (store, lab) => {
    const progress = { fraction: 0.5, message: "half" }
    const first = await running(store, aRun(), SHORT_LEASE)
    await store.heartbeat(aHeartbeat({ held: [heldRun(first, { progress, leaseMs: SHORT_MS })] }))
    await lab.pass(2 * SHORT_MS)

    const second = await claimed(store, first.id)
    await store.heartbeat(aHeartbeat({ held: [heldRun(second, { progress })] }))
    await store.transition([release(second, "stopping")])
    const third = await claimed(store, first.id)

    assert.deepEqual([second.progress, third.progress], [null, null])
    assert.equal((await runById(store, first.id)).progress, null)
  }),
  lawCase(
    "A silent worker's run is given to another worker, and the silent attempt is recorded as lost",
    async (store, lab) => {
      const first = await confirmed(store, await running(store, aRun(), { workerId: "silent" }))
      await lab.pass(2 * SHORT_MS)

      const { result, span } = await timed(store, () => store.claim(aClaim({ workerId: "second" })))

      const [run] = result.runs as readonly [Run]
      assert.deepEqual([run.attempt, run.lost, run.failures, run.workerId], [2, 1, 0, "second"])
      assert.ok(run.startedAt! > first.startedAt!)
      assert.equal(run.attempts.length, 1)
      const { endedAt, error: _, ...story } = run.attempts[0]!
      const { dueAt, startedAt } = first
      assert.deepEqual(story, { attempt: 1, workerId: "silent", dueAt, startedAt, outcome: "lost" })
      // A store may date the end of a lost attempt at any instant from the lease's end to the claim.
      assertDated(endedAt, { from: first.startedAt! + SHORT_MS, until: span.until }, "the lost attempt's end")
      assert.deepEqual(await runById(store, run.id), run)
    },
  ),
  lawCase(
    "A silent attempt without a heartbeat is recorded as unconfirmed, and doesn't count as lost",
    async (store, lab) => {
      const first = await abandoned(store, lab, aRun(), { workerId: "silent", ...SHORT_LEASE })

      const second = await claimed(store, first.id, { workerId: "second" })

      assert.deepEqual([second.attempt, second.lost, second.failures], [2, 0, 0])
      const story = second.attempts.map(({ attempt, workerId, outcome }) => [attempt, workerId, outcome])
      assert.deepEqual(story, [[1, "silent", "unconfirmed"]])
      assert.deepEqual(await runById(store, first.id), second)
    },
  ),
  lawCase("A heartbeat confirms its own attempt only, not the next one", async (store, lab) => {
    const first = await confirmed(store, await running(store, aRun()))
    await lab.pass(2 * SHORT_MS)
    await claimed(store, first.id, SHORT_LEASE)
    await lab.pass(2 * SHORT_MS)

    const third = await claimed(store, first.id)

    assert.equal(third.lost, 1)
    assert.deepEqual(
      third.attempts.map(({ outcome }) => outcome),
      ["lost", "unconfirmed"],
    )
  }),
  lawCase("Every lost attempt counts, and a released attempt doesn't", async (store, lab) => {
    const { id } = await enqueued(store, aRun())
    for (let losses = 0; losses < 2; losses++) {
      await confirmed(store, await claimed(store, id))
      await lab.pass(2 * SHORT_MS)
    }
    const third = await claimed(store, id)
    await store.transition([release(third, "stopping")])

    const fourth = await claimed(store, id)

    assert.deepEqual([third.lost, fourth.lost], [2, 2])
    assert.deepEqual(
      fourth.attempts.map(({ attempt, outcome }) => [attempt, outcome]),
      [
        [1, "lost"],
        [2, "lost"],
        [3, "released"],
      ],
    )
  }),
  lawCase("A run keeps its newest fifty attempts, also if their workers fell silent", async (store, lab) => {
    const { id } = await enqueued(store, aRun())
    for (let attempt = 1; attempt <= ATTEMPTS_KEPT + 2; attempt++) {
      await claimed(store, id, { tasks: [{ name: "report", leaseMs: 1 }] })
      await lab.pass(1 + DISTINCT_MS)
    }

    const { attempts } = await claimed(store, id)

    assert.deepEqual(
      attempts.map(({ attempt }) => attempt),
      several(ATTEMPTS_KEPT, (index) => index + 3),
    )
  }),
  lawCase("A run whose lease was extended in time isn't given to another worker", async (store, lab) => {
    const run = await running(store, aRun(), SHORT_LEASE)
    await store.heartbeat(aHeartbeat({ held: [heldRun(run)] }))

    await lab.pass(2 * SHORT_MS)

    assert.deepEqual((await store.claim(aClaim({ workerId: "second" }))).runs, [])
  }),
]

export const ALONE: Law = {
  number: 5,
  name: "Alone",
  statement: "No (run, attempt) is ever given to two workers.",
  cases: [...giving, ...losing, ...ALONE_RACING],
}
