import assert from "node:assert/strict"
import { UNFINISHED_FACTS_MAX } from "../../core/planning/plan.ts"
import { cancel, succeed } from "../../core/run/run.ts"
import { aPlan, aPruning, aRun, aRunOf, aSchedule, aSkip, DISTINCT_MS } from "./factories.ts"
import { type Law, lawCase } from "./law.ts"
import {
  claimed,
  countRuns,
  created,
  enqueued,
  idsOf,
  readDue,
  runById,
  runIfThere,
  running,
  scheduleById,
  several,
  sorted,
  tally,
  together,
  withPeers,
} from "./steps.ts"

const NOTHING = { message: null, details: null }
const NOBODY = { reason: null, by: null }

const firing = [
  lawCase("Of twenty callers that fire the same plan at once, one succeeds", async (store, lab) => {
    const peers = await withPeers(store, lab)
    const schedule = await created(store, aSchedule())
    const plan = aPlan(schedule, { runs: [aRunOf(schedule.id), aSkip({ scheduleId: schedule.id })] })

    const answers = await together(peers, 20, async (peer) => (await peer.fire([plan]))[0]!)

    assert.deepEqual(tally(answers), { done: 1, stale: 19 })
    const done = answers.find((answer) => answer.outcome === "done")
    assert.deepEqual(sorted(done?.created ?? []), sorted(idsOf(plan.runs)))
    assert.deepEqual(await countRuns(store, { scheduleId: schedule.id }), { ...NONE, pending: 1, skipped: 1 })
  }),
  lawCase("Of ten callers that fire the same batch at once, one fires each schedule", async (store, lab) => {
    const peers = await withPeers(store, lab)
    const schedules = await Promise.all(several(10, () => created(store, aSchedule())))
    const plans = schedules.map((schedule) => aPlan(schedule, { runs: [aRunOf(schedule.id)] }))

    const answers = await together(peers, 10, (peer, index) =>
      peer.fire(index % 2 === 0 ? plans : [...plans].reverse()),
    )

    const flat = answers.flatMap((each, index) => (index % 2 === 0 ? each : [...each].reverse()))
    assert.deepEqual(tally(flat), { done: 10, stale: 90 })
    for (let at = 0; at < 10; at++) {
      const ofOne = flat.filter((_, index) => index % 10 === at)
      assert.equal(tally(ofOne)["done"], 1)
    }
    assert.deepEqual(await countRuns(store), { ...NONE, pending: 10 })
  }),
  lawCase("Of two plans for one schedule in one call, one succeeds", async (store) => {
    const schedule = await created(store, aSchedule())
    const plans = several(2, () => aPlan(schedule, { runs: [aRunOf(schedule.id)] }))

    const answers = await store.fire(plans)

    assert.deepEqual(tally(answers), { done: 1, stale: 1 })
    assert.deepEqual(await countRuns(store), { ...NONE, pending: 1 })
  }),
  lawCase("A fire leaves a run whose id exists unchanged, and names only the new ones", async (store) => {
    const schedule = await created(store, aSchedule())
    const early = await running(store, aRunOf(schedule.id, { payload: "first" }))
    const [fresh, skip] = [aRunOf(schedule.id), aSkip()]

    const runs = [aRunOf(schedule.id, { id: early.id, payload: "second" }), fresh, skip]
    const [answer] = await store.fire([
      aPlan(schedule, { runs, progress: { ...aPlan(schedule).progress!, firedCount: 5 } }),
    ])

    assert.ok(answer?.outcome === "done")
    assert.deepEqual(sorted(answer.created), sorted([fresh.id, skip.id]))
    assert.deepEqual(await runById(store, early.id), early)
    assert.equal((await scheduleById(store, schedule.id)).firedCount, 5)
  }),
  lawCase("A fire doesn't create a finished run again", async (store) => {
    const schedule = await created(store, aSchedule())
    const run = await running(store, aRunOf(schedule.id))
    await store.transition([succeed(run, NOTHING)])
    const finished = await runById(store, run.id)

    const answers = await store.fire([aPlan(schedule, { runs: [aRunOf(schedule.id, { id: run.id })] })])

    assert.deepEqual(answers, [{ outcome: "done", created: [] }])
    assert.deepEqual(await runById(store, run.id), finished)
  }),
  lawCase("An enqueue of an id that exists changes nothing, and the answer says so", async (store) => {
    const run = await running(store, aRun({ payload: "first" }))

    const answers = await store.enqueue([aRun({ id: run.id, payload: "second", task: "other" })])

    assert.deepEqual(answers, [{ outcome: "exists", runId: run.id }])
    assert.deepEqual(await runById(store, run.id), run)
  }),
  lawCase("Of twenty callers that enqueue one id at once, one succeeds", async (store, lab) => {
    const answers = await together(
      await withPeers(store, lab),
      20,
      async (peer, index) => (await peer.enqueue([aRun({ id: "one", payload: index })]))[0]!,
    )

    assert.deepEqual(tally(answers), { created: 1, exists: 19 })
    assert.ok(answers.every((answer) => answer.runId === "one"))
    const winner = answers.findIndex((answer) => answer.outcome === "created")
    assert.equal((await runById(store, "one")).payload, winner)
  }),
  lawCase("Of two runs with one id in one enqueue, one is stored", async (store) => {
    const answers = await store.enqueue([aRun({ id: "one" }), aRun({ id: "one" })])

    assert.deepEqual(tally(answers), { created: 1, exists: 1 })
    assert.ok(await runIfThere(store, "one"))
  }),
  lawCase("A fire and an enqueue of one occurrence at once create one run", async (store, lab) => {
    const peers = await withPeers(store, lab)
    const schedules = await Promise.all(several(10, () => created(store, aSchedule())))

    const answers = await together(peers, 20, async (peer, index) => {
      const schedule = schedules[index % 10]!
      const run = aRunOf(schedule.id, { id: `${schedule.id}@1` })
      if (index < 10) return (await peer.enqueue([run]))[0]!.outcome === "created"
      const [answer] = await peer.fire([aPlan(schedule, { runs: [run] })])
      assert.ok(answer?.outcome === "done")
      return answer.created.length === 1
    })

    for (let at = 0; at < 10; at++)
      assert.notEqual(answers[at], answers[at + 10], "one of the two created the run")
    assert.deepEqual(await countRuns(store), { ...NONE, pending: 10 })
  }),
]

const facts = [
  lawCase("The facts of a due schedule hold its unfinished runs, oldest first", async (store, lab) => {
    const schedule = await created(store, aSchedule({ nextRunAt: 0 }))
    for (const id of ["z-oldest", "m-running", "a-newest"]) {
      await enqueued(store, aRunOf(schedule.id, { id, task: id }))
      await lab.pass(DISTINCT_MS)
    }
    await claimed(store, "m-running", { tasks: [{ name: "m-running", leaseMs: 600_000 }] })

    const { facts } = await readDue(store, lab, schedule.id)

    const refs = facts.unfinished.map(({ id, state, attempt, failures, lost }) => [
      id,
      state,
      attempt,
      failures,
      lost,
    ])
    assert.deepEqual(refs, [
      ["z-oldest", "pending", 0, 0, 0],
      ["m-running", "running", 1, 0, 0],
      ["a-newest", "pending", 0, 0, 0],
    ])
  }),
  lawCase("The facts hold the oldest hundred of many unfinished runs", async (store, lab) => {
    const schedule = await created(store, aSchedule({ nextRunAt: 0 }))
    const old = several(UNFINISHED_FACTS_MAX - 1, () => aRunOf(schedule.id))
    await store.enqueue(old)
    await lab.pass(DISTINCT_MS)
    // Its id sorts before the older ids.
    const next = await enqueued(store, aRunOf(schedule.id, { id: "-next" }))
    await lab.pass(DISTINCT_MS)
    await store.enqueue(several(5, (index) => aRunOf(schedule.id, { id: `--late-${index}` })))

    const { facts } = await readDue(store, lab, schedule.id)

    assert.deepEqual(sorted(idsOf(facts.unfinished)), sorted([...idsOf(old), next.id]))
    assert.equal(facts.unfinished.at(-1)?.id, next.id)
  }),
  lawCase("A retried run is ordered by its creation, not by its retry", async (store, lab) => {
    const schedule = await created(store, aSchedule({ nextRunAt: 0 }))
    const older = await enqueued(store, aRunOf(schedule.id))
    await lab.pass(DISTINCT_MS)
    const newer = await enqueued(store, aRunOf(schedule.id))
    await store.transition([cancel(older, NOBODY)!])
    await store.transition([
      { ...cancel(older, NOBODY)!, ifState: "cancelled", state: "pending", claimableInMs: 0 },
    ])

    const { facts } = await readDue(store, lab, schedule.id)

    assert.deepEqual(idsOf(facts.unfinished), [older.id, newer.id])
  }),
  lawCase("The facts hold no backfills, finished runs or runs of other schedules", async (store, lab) => {
    const schedule = await created(store, aSchedule({ nextRunAt: 0 }))
    const done = await running(store, aRunOf(schedule.id))
    await store.transition([succeed(done, NOTHING)])
    await store.enqueue([
      aRunOf(schedule.id, { concurrencyKey: null, triggeredBy: "backfill" }),
      aSkip({ ...aRunOf(schedule.id), state: "skipped" }),
      aRunOf("another"),
      aRun(),
    ])

    const { facts } = await readDue(store, lab, schedule.id)

    assert.deepEqual(facts.unfinished, [])
  }),
  lawCase("The facts hold when the schedules that it depends on last succeeded", async (store, lab) => {
    const dependsOn = ["good", "bad", "new"].map((scheduleId) => ({ scheduleId, withinMs: 1_000 }))
    const schedule = await created(store, aSchedule({ nextRunAt: 0, dependsOn }))
    const finished: string[] = []
    for (const scheduleId of ["good", "good", "bad"]) {
      const run = await running(store, aRunOf(scheduleId))
      await store.transition([scheduleId === "good" ? succeed(run, NOTHING) : cancel(run, NOBODY)!])
      finished.push(run.id)
      await lab.pass(DISTINCT_MS)
    }
    const later = await running(store, aRunOf("good"))
    await store.transition([cancel(later, NOBODY)!])

    const { facts } = await readDue(store, lab, schedule.id)

    const newest = await runById(store, finished[1]!)
    const successes = ["good", "bad", "new"].map((id) => facts.lastSuccessAt[id] ?? null)
    assert.deepEqual(successes, [newest.completedAt, null, null])
  }),
  lawCase("The facts hold the last success also after its run was pruned", async (store, lab) => {
    await created(store, aSchedule({ id: "good", coveredUntil: await store.now() }))
    const dependsOn = [{ scheduleId: "good", withinMs: 1_000 }]
    const schedule = await created(store, aSchedule({ nextRunAt: 0, dependsOn }))
    const run = await running(store, aRunOf("good"))
    await store.transition([succeed(run, NOTHING)])
    const { completedAt } = await runById(store, run.id)
    await lab.pass(DISTINCT_MS)
    assert.equal((await store.prune(aPruning({ olderThanMs: 0 }))).runs, 1)

    const { facts } = await readDue(store, lab, schedule.id)

    assert.deepEqual(facts.lastSuccessAt, { good: completedAt })
  }),
]

const NONE = { pending: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }

export const ONCE: Law = {
  number: 4,
  name: "Once",
  statement:
    "One occurrence of one schedule becomes exactly one run or one skip: the run's id is its identity.",
  cases: [...firing, ...facts],
}
