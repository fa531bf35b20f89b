import assert from "node:assert/strict"
import { cancel, retry } from "../../core/run/run.ts"
import {
  aClaim,
  aHeartbeat,
  aPlan,
  aPruning,
  aRun,
  aSchedule,
  aSkip,
  aWorker,
  DISTINCT_MS,
  LONG_MS,
  pruned,
  SHORT_MS,
} from "./factories.ts"
import { lawCase } from "./law.ts"
import {
  abandoned,
  allWorkers,
  assertDated,
  claimed,
  created,
  enqueued,
  idsOf,
  readDue,
  runById,
  runIfThere,
  running,
  sorted,
  timed,
  withEnoughTime,
} from "./steps.ts"

/** One clock, for due records: a comparison with the store's now decides. */
export const ONE_CLOCK_DUE = [
  lawCase("A run without a delay is due at once", async (store) => {
    const run = await enqueued(store, aRun())

    const { runs } = await store.claim(aClaim())

    assert.deepEqual(idsOf(runs), [run.id])
  }),
  lawCase("A delayed run is given when its delay has ended, not before", async (store, lab) => {
    await store.enqueue([
      aRun({ id: "soon", delayMs: SHORT_MS }),
      aRun({ id: "later", delayMs: LONG_MS }),
      aRun({ id: "appointed", notBefore: (await store.now()) + LONG_MS }),
    ])

    await lab.pass(2 * SHORT_MS)

    assert.deepEqual(idsOf((await store.claim(aClaim())).runs), ["soon"])
  }),
  lawCase("A run is given again when its lease has ended, not before", async (store, lab) => {
    await running(store, aRun({ id: "held" }))
    await abandoned(store, lab, aRun({ id: "abandoned" }))

    const { runs } = await store.claim(aClaim())

    assert.deepEqual(idsOf(runs), ["abandoned"])
  }),
  lawCase("A claim returns when the next delay or lease of its tasks ends", async (store) => {
    const tasks = [{ name: "mine", leaseMs: 2 * LONG_MS }]
    const none = await store.claim(aClaim({ tasks }))
    await running(store, aRun({ id: "leased", task: "mine" }), { tasks })
    const leased = await store.claim(aClaim({ tasks }))
    await store.enqueue([
      aRun({ id: "delayed", task: "mine", delayMs: LONG_MS }),
      aRun({ id: "later", task: "mine", delayMs: LONG_MS + 10_000 }),
      aRun({ id: "elsewhere", task: "theirs", delayMs: 10_000 }),
      aSkip({ task: "mine" }),
    ])

    const delayed = await store.claim(aClaim({ tasks }))

    assert.equal(none.nextClaimableAt, null)
    assert.equal(leased.nextClaimableAt, (await runById(store, "leased")).claimableAt)
    assert.equal(delayed.nextClaimableAt, (await runById(store, "delayed")).claimableAt)
  }),
  lawCase("A run that a claim gives doesn't count as the next due run", async (store) => {
    await store.enqueue([aRun({ id: "given" }), aRun({ id: "next", delayMs: LONG_MS })])
    const tasks = [{ name: "report", leaseMs: LONG_MS / 2 }]

    const { runs, nextClaimableAt } = await store.claim(aClaim({ tasks }))

    assert.deepEqual(idsOf(runs), ["given"])
    assert.equal(nextClaimableAt, (await runById(store, "next")).claimableAt)
  }),
  lawCase("A due run that waits for its key doesn't count as the next due run", async (store) => {
    const blocked = { concurrencyKey: "one at a time", concurrencyLimit: 1 }
    await running(store, aRun({ task: "other", ...blocked }))
    await enqueued(store, aRun(blocked))

    const { runs, nextClaimableAt } = await store.claim(aClaim())

    assert.deepEqual([runs, nextClaimableAt], [[], null])
  }),
  lawCase("A schedule is due from its `nextRunAt` on, and never if that is null", async (store, lab) => {
    const now = await store.now()
    await created(store, aSchedule({ id: "future", nextRunAt: now + LONG_MS }))
    assert.deepEqual((await store.dueSchedules({ limit: 10 })).due, [], "no other schedule is stored")
    await created(store, aSchedule({ id: "past", nextRunAt: now - LONG_MS }))
    await created(store, aSchedule({ id: "this-instant", nextRunAt: now }))
    await created(store, aSchedule({ id: "never", nextRunAt: null }))

    const { result, span } = await timed(store, () => store.dueSchedules({ limit: 10 }))

    assertDated(result.now, span, "now")
    assert.deepEqual(sorted(result.due.map(({ schedule }) => schedule.id)), ["past", "this-instant"])
    await created(store, aSchedule({ id: "soon", nextRunAt: (await store.now()) + SHORT_MS }))
    await lab.pass(2 * SHORT_MS)
    assert.equal((await readDue(store, lab, "soon")).schedule.id, "soon")
  }),
  lawCase("`nextDueAt` is when the next schedule is due after now", async (store) => {
    const now = await store.now()
    await created(store, aSchedule({ nextRunAt: now - 1_000 }))
    await created(store, aSchedule({ nextRunAt: null }))
    const none = await store.dueSchedules({ limit: 10 })
    await created(store, aSchedule({ nextRunAt: now + 2 * LONG_MS }))
    await created(store, aSchedule({ nextRunAt: now + LONG_MS }))

    const some = await store.dueSchedules({ limit: 10 })

    assert.deepEqual([none.nextDueAt, some.nextDueAt], [null, now + LONG_MS])
  }),
  lawCase("Schedules are read up to `aheadMs` ahead, and `nextDueAt` is after these", async (store) => {
    const now = await store.now()
    await created(store, aSchedule({ id: "past", nextRunAt: now - 1_000 }))
    await created(store, aSchedule({ id: "soon", nextRunAt: now + LONG_MS }))
    await created(store, aSchedule({ id: "later", nextRunAt: now + 3 * LONG_MS }))

    const read = await store.dueSchedules({ limit: 10, aheadMs: 2 * LONG_MS })

    assert.deepEqual(sorted(read.due.map(({ schedule }) => schedule.id)), ["past", "soon"])
    assert.equal(read.nextDueAt, now + 3 * LONG_MS)
    assert.ok(read.now < now + LONG_MS, "`now` doesn't depend on `aheadMs`")
  }),
  lawCase("`nextDueCount` is how many schedules are due at `nextDueAt`, up to the limit", async (store) => {
    const at = (await store.now()) + LONG_MS
    const none = await store.dueSchedules({ limit: 10 })
    for (let number = 0; number < 3; number++) await created(store, aSchedule({ nextRunAt: at }))
    await created(store, aSchedule({ nextRunAt: at + 1 }))
    await created(store, aSchedule({ nextRunAt: null }))

    const all = await store.dueSchedules({ limit: 10 })
    const two = await store.dueSchedules({ limit: 2 })
    const after = await store.dueSchedules({ limit: 1, aheadMs: 2 * LONG_MS })

    assert.deepEqual(
      [none, all, two].map(({ nextDueCount }) => nextDueCount),
      [0, 3, 2],
    )
    assert.equal(after.nextDueCount, 0)
  }),
  lawCase("A run that is fired ahead of its `notBefore` isn't given before it", async (store, lab) => {
    await withEnoughTime(async (marginMs) => {
      const notBefore = (await store.now()) + marginMs
      const schedule = await created(store, aSchedule({ nextRunAt: notBefore }))
      const [task, id] = [`task ${marginMs}`, `ahead ${marginMs}`]
      const tasks = [{ name: task, leaseMs: LONG_MS }]

      await store.fire([aPlan(schedule, { runs: [aRun({ id, task, notBefore })] })])
      const early = await store.claim(aClaim({ tasks }))
      if ((await store.now()) >= notBefore) return "too late"
      await lab.pass(marginMs + DISTINCT_MS)

      assert.deepEqual([early.runs, early.nextClaimableAt], [[], notBefore])
      assert.equal((await claimed(store, id, { tasks })).attempt, 1)
      return "proved"
    })
  }),
  lawCase("A paused or disabled schedule that is due is returned like any other", async (store, lab) => {
    const nextRunAt = (await store.now()) - 1_000
    const paused = { at: nextRunAt, until: nextRunAt, reason: "quiet week", by: null }
    const schedules = [
      await created(store, aSchedule({ nextRunAt, paused })),
      await created(store, aSchedule({ nextRunAt, enabled: false })),
    ]

    for (const schedule of schedules) {
      assert.deepEqual((await readDue(store, lab, schedule.id)).schedule, schedule)
    }
  }),
  lawCase("A finished run is pruned when it is older than `olderThanMs`, not before", async (store, lab) => {
    const run = await running(store, aRun())
    const skip = await enqueued(store, aSkip())
    await store.transition([cancel(run, { reason: null, by: null })!])
    await lab.pass(3 * SHORT_MS)

    const early = await store.prune(aPruning({ olderThanMs: LONG_MS }))
    const late = await store.prune(aPruning({ olderThanMs: SHORT_MS }))

    assert.deepEqual([early.runs, late.runs], [0, 2])
    assert.equal(await runIfThere(store, run.id), null)
    assert.equal(await runIfThere(store, skip.id), null)
  }),
  lawCase("A run's age counts from its completion, not from its creation", async (store, lab) => {
    await withEnoughTime(async (marginMs) => {
      const run = await running(store, aRun())
      await lab.pass(marginMs + DISTINCT_MS)
      const before = await store.now()
      await store.transition([cancel(run, { reason: null, by: null })!])

      await store.prune(aPruning({ olderThanMs: marginMs }))
      if ((await store.now()) - before >= marginMs) return "too late"

      assert.ok(await runIfThere(store, run.id), "it was completed less than `olderThanMs` ago")
      return "proved"
    })
  }),
  lawCase("A worker is pruned when it was silent for `silentForMs`, not before", async (store, lab) => {
    await store.heartbeat(aHeartbeat({ worker: aWorker({ id: "silent" }) }))
    await lab.pass(3 * SHORT_MS)

    const early = await store.prune(aPruning({ silentForMs: LONG_MS }))
    const late = await store.prune(aPruning({ silentForMs: SHORT_MS }))

    assert.deepEqual([early.workers, late.workers], [0, 1])
    assert.deepEqual(await allWorkers(store), [])
  }),
  lawCase("Unfinished runs and schedules are never pruned, however old they are", async (store, lab) => {
    const schedule = await created(store, aSchedule({ nextRunAt: 0 }))
    const waiting = await enqueued(store, aRun({ task: "other" }))
    const abandonedRun = await abandoned(store, lab, aRun())
    const revived = await running(store, aRun({ task: "revived" }))
    await store.transition([cancel(revived, { reason: null, by: null })!])
    await store.transition([retry({ ...revived, state: "cancelled" }, null)!])
    await lab.pass(2 * SHORT_MS)

    const answer = await store.prune(aPruning({ olderThanMs: 1, silentForMs: 1 }))

    assert.deepEqual(answer, pruned())
    assert.ok(await runIfThere(store, waiting.id))
    assert.equal((await claimed(store, abandonedRun.id)).attempt, 2)
    assert.ok(await runIfThere(store, revived.id))
    assert.equal((await readDue(store, lab, schedule.id)).schedule.id, schedule.id)
  }),
]
