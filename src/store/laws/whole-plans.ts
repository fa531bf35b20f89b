import assert from "node:assert/strict"
import { cancel } from "../../core/run/run.ts"
import { NO_RUNS, progressOf, type ScheduleProgress } from "../../core/schedule/schedule.ts"
import { AN_INSTANT, aLogLine, aPlan, aRun, aRunOf, aSchedule, aSkip } from "./factories.ts"
import { lawCase } from "./law.ts"
import {
  created,
  deleteSchedule,
  enqueued,
  idsOf,
  logOf,
  putAgain,
  runById,
  runIfThere,
  scheduleById,
  scheduleIfThere,
  several,
  together,
  withPeers,
} from "./steps.ts"

/** Differs from a new schedule's progress in every field. */
const PROGRESS: ScheduleProgress = {
  nextRunAt: AN_INSTANT + 60_000,
  coveredUntil: AN_INSTANT,
  overrides: [{ scheduledFor: AN_INSTANT + 60_000, dueAt: null, reason: "holiday", by: "ann" }],
  paused: { at: AN_INSTANT, until: null, reason: null, by: "ann" },
  firedCount: 3,
  lastError: "an error",
  finishedAt: AN_INSTANT + 1,
}

/** Whole, for batches: a plan is one atom, and the elements of a call don't affect one another. */
export const WHOLE_PLANS = [
  lawCase("A fire stores the plan's progress and runs, not the definition", async (store) => {
    const schedule = await created(store, aSchedule({ description: "kept", tags: ["a"], payload: { b: 1 } }))
    const [run, skip] = [aRunOf(schedule.id), aSkip({ scheduleId: schedule.id })]

    const answers = await store.fire([aPlan(schedule, { progress: PROGRESS, runs: [skip, run] })])

    assert.equal(answers[0]?.outcome, "done")
    const { version, ...after } = await scheduleById(store, schedule.id)
    const { version: _, ...before } = schedule
    assert.deepEqual({ ...after, ...NO_RUNS }, { ...before, ...PROGRESS })
    assert.ok(version > schedule.version)
    assert.equal((await runById(store, run.id)).state, "pending")
    assert.equal((await runById(store, skip.id)).state, "skipped")
  }),
  lawCase("A stale plan changes neither the schedule nor any run", async (store) => {
    const schedule = await created(store, aSchedule())
    await store.fire([aPlan(schedule)])
    const before = await scheduleById(store, schedule.id)
    const late = [aPlan(schedule, { progress: PROGRESS, runs: [aRun(), aSkip()] })]

    assert.deepEqual(await store.fire(late), [{ outcome: "stale" }])

    assert.deepEqual(await scheduleById(store, schedule.id), before)
    for (const { id } of late[0]!.runs) assert.equal(await runIfThere(store, id), null)
  }),
  lawCase("A held plan changes nothing, and creates none of its runs", async (store) => {
    const schedule = await created(store, aSchedule())
    await enqueued(store, aRun({ liveKey: "nightly" }))
    const runs = [aRun(), aSkip(), aRun({ liveKey: "nightly" }), aRun()]

    assert.deepEqual(await store.fire([aPlan(schedule, { progress: PROGRESS, runs })]), [{ outcome: "held" }])

    assert.deepEqual(await scheduleById(store, schedule.id), schedule)
    for (const { id } of runs) assert.equal(await runIfThere(store, id), null)
  }),
  lawCase("A held plan that deletes its schedule changes nothing, and can be fired again", async (store) => {
    const schedule = await created(store, aSchedule())
    const holder = await enqueued(store, aRun({ liveKey: "nightly" }))
    const plan = aPlan(schedule, { progress: null, runs: [aRun({ liveKey: "nightly" })] })

    const first = await store.fire([plan])
    await store.transition([cancel(holder, { reason: null, by: null })!])
    const second = await store.fire([plan])

    assert.deepEqual(first, [{ outcome: "held" }])
    assert.deepEqual(second, [{ outcome: "done", created: idsOf(plan.runs) }])
  }),
  lawCase("A plan without progress deletes its schedule and creates its runs", async (store) => {
    const schedule = await created(store, aSchedule())
    const run = aRun({ scheduleId: schedule.id })

    const answers = await store.fire([aPlan(schedule, { progress: null, runs: [run] })])

    assert.deepEqual(answers, [{ outcome: "done", created: [run.id] }])
    assert.equal(await scheduleIfThere(store, schedule.id), null)
    assert.equal((await runById(store, run.id)).scheduleId, schedule.id)
  }),
  lawCase("A plan with two runs of the same live key is held, and nothing of it happens", async (store) => {
    const schedule = await created(store, aSchedule())
    const runs = [aRun({ liveKey: "nightly" }), aRun({ liveKey: "nightly" })]

    assert.deepEqual(await store.fire([aPlan(schedule, { runs })]), [{ outcome: "held" }])

    assert.deepEqual(await scheduleById(store, schedule.id), schedule)
    for (const { id } of runs) assert.equal(await runIfThere(store, id), null)
  }),
  lawCase("Each plan of a call is decided by itself, and answered in order", async (store) => {
    const [good, stale, held, last] = await Promise.all(
      ["good", "stale", "held", "last"].map((id) => created(store, aSchedule({ id }))),
    )
    await putAgain(store, stale!)
    await enqueued(store, aRun({ liveKey: "taken" }))

    const answers = await store.fire([
      aPlan(held!, { runs: [aRun({ id: "r-held", liveKey: "taken" })] }),
      aPlan(good!, { runs: [aRun({ id: "r-good" })] }),
      aPlan(stale!, { runs: [aRun({ id: "r-stale" })] }),
      aPlan(last!, { progress: PROGRESS }),
    ])

    assert.deepEqual(answers, [
      { outcome: "held" },
      { outcome: "done", created: ["r-good"] },
      { outcome: "stale" },
      { outcome: "done", created: [] },
    ])
    assert.ok(await runIfThere(store, "r-good"))
    assert.deepEqual(progressOf(await scheduleById(store, "last")), PROGRESS)
  }),
  lawCase("Each run of an enqueue is decided by itself, and answered in order", async (store) => {
    await store.enqueue([aRun({ id: "there" }), aRun({ id: "holder", liveKey: "taken" })])

    const answers = await store.enqueue([
      aRun({ id: "there" }),
      aRun({ id: "new-1" }),
      aRun({ id: "late", liveKey: "taken" }),
      aRun({ id: "new-2" }),
    ])

    assert.deepEqual(answers, [
      { outcome: "exists", runId: "there" },
      { outcome: "created", runId: "new-1" },
      { outcome: "held", runId: "holder" },
      { outcome: "created", runId: "new-2" },
    ])
    assert.equal(await runIfThere(store, "late"), null)
    assert.ok(await runIfThere(store, "new-2"))
  }),
  lawCase("A deleted schedule is no longer stored, and its runs stay", async (store) => {
    const schedule = await created(store, aSchedule())
    const run = await enqueued(store, aRun({ scheduleId: schedule.id }))

    const answer = await deleteSchedule(store, schedule)

    assert.equal(answer.outcome, "done")
    assert.equal(await scheduleIfThere(store, schedule.id), null)
    assert.deepEqual(await runById(store, run.id), run)
  }),
  lawCase("A log line is stored exactly as it was sent, with its run", async (store) => {
    await store.enqueue([aRun({ id: "a" }), aRun({ id: "b" })])
    const fields = { at: [1, { deep: "✓" }], nothing: null }
    const text = "one\n'two' 👋"

    await store.appendLogs([
      aLogLine("a", { attempt: 3, number: 7, message: text, level: "debug", fields }),
      aLogLine("b", { message: "elsewhere", level: "warn" }),
      aLogLine("a", { attempt: 3, number: 8, message: "", level: "error" }),
    ])

    const ofA = (await logOf(store, "a")).map(({ at, ...line }) => ({
      ...line,
      isDated: Number.isInteger(at),
    }))
    assert.deepEqual(ofA, [
      { attempt: 3, number: 7, message: text, level: "debug", fields, isDated: true },
      { attempt: 3, number: 8, message: "", level: "error", fields: null, isDated: true },
    ])
    assert.deepEqual(
      (await logOf(store, "b")).map(({ number, message }) => [number, message]),
      [[1, "elsewhere"]],
    )
  }),
  lawCase("Log lines are read by attempt and number, in whatever order they were sent", async (store) => {
    const { id } = await enqueued(store, aRun())
    const sent = ["2:1", "1:10", "1:9", "10:1", "1:1", "2:3"].map((place) => place.split(":").map(Number))

    for (const [attempt, number] of sent as [number, number][]) {
      await store.appendLogs([aLogLine(id, { attempt, number })])
    }

    const places = (await logOf(store, id)).map(({ attempt, number }) => `${attempt}:${number}`)
    assert.deepEqual(places, ["1:1", "1:9", "1:10", "2:1", "2:3", "10:1"])
  }),
  lawCase("Log lines that several callers append at once are all stored", async (store, lab) => {
    const peers = await withPeers(store, lab)
    const { id } = await enqueued(store, aRun())

    await together(peers, 10, (peer, call) => {
      const numbers = [1, 2, 3].map((line) => 3 * call + line)
      return peer.appendLogs(numbers.map((number) => aLogLine(id, { number, message: `line ${number}` })))
    })

    const messages = (await logOf(store, id)).map(({ message }) => message)
    assert.deepEqual(
      messages,
      several(30, (index) => `line ${index + 1}`),
    )
  }),
]
