import assert from "node:assert/strict"
import { DEFAULT_RETRY } from "../../core/run/backoff.ts"
import { fail, type NewRun, type Run } from "../../core/run/run.ts"
import { SUMMARY_TEXT_MAX, summaryOf } from "../../core/run/run-summary.ts"
import { concurrencyKeyOf, NO_RUNS } from "../../core/schedule/schedule.ts"
import { storedSchedule } from "../../core/schedule/stored-schedule.ts"
import { EARLIEST, LATEST } from "../../core/time/instant.ts"
import { aHeartbeat, aPlan, aRun, aSchedule, aSkip, aWorker } from "./factories.ts"
import { lawCase } from "./law.ts"
import { aFullRun, aFullSchedule, PAYLOADS, TEXTS } from "./samples.ts"
import {
  allWorkers,
  aPage,
  created,
  enqueued,
  idsOf,
  runById,
  running,
  scheduleById,
  sorted,
} from "./steps.ts"

/** Whole, for records: a record is read exactly as it was written, in every field and character. */
export const WHOLE_RECORDS = [
  lawCase("A schedule is stored exactly as it was put, in every field", async (store) => {
    const schedule = aFullSchedule()

    await store.putSchedule(schedule, null)

    const { version, ...kept } = await scheduleById(store, schedule.id)
    assert.deepEqual(kept, { ...schedule, ...NO_RUNS })
    assert.ok(Number.isInteger(version))
  }),
  lawCase("A schedule that is put again is replaced as a whole", async (store) => {
    const before = await created(store, aFullSchedule())
    const after = aSchedule({ id: before.id })

    const answer = await store.putSchedule(after, before.version)

    assert.ok(answer.outcome === "done")
    assert.deepEqual(await scheduleById(store, before.id), storedSchedule(after, answer.version))
  }),
  lawCase("An enqueued run is stored exactly as it was sent, in every field", async (store) => {
    const run = aFullRun()

    const kept = await enqueued(store, run)

    assert.deepEqual(kept, unclaimed(run, kept))
  }),
  lawCase("A run without optional fields is stored exactly as it was sent", async (store) => {
    const run = aRun()

    const kept = await enqueued(store, run)

    assert.deepEqual(kept, unclaimed(run, kept))
  }),
  lawCase("A run that a fire creates is stored like an enqueued run", async (store) => {
    const schedule = await created(store, aSchedule())
    const run = aFullRun()

    await store.fire([aPlan(schedule, { runs: [run] })])

    const kept = await runById(store, run.id)
    assert.deepEqual(kept, unclaimed(run, kept))
  }),
  lawCase("A skip is created finished: with its completion and reason, and never due", async (store) => {
    const schedule = await created(store, aSchedule())
    const skips = [aSkip({ reason: "missed", message: "No process was running" }), aSkip()]

    await store.enqueue([skips[0]!])
    await store.fire([aPlan(schedule, { runs: [skips[1]!] })])

    for (const skip of skips) {
      const kept = await runById(store, skip.id)
      assert.deepEqual(kept, unclaimed(skip, kept))
      assert.deepEqual([kept.state, kept.claimableAt, kept.startedAt], ["skipped", null, null])
      assert.ok(kept.completedAt !== null)
    }
  }),
  lawCase("Whole runs are read by id: each stored run once, unknown ids are left out", async (store) => {
    const kept = [await enqueued(store, aFullRun()), await enqueued(store, aRun())]
    await enqueued(store, aRun())
    const ids = idsOf(kept)

    const read = await store.readRuns([ids[1]!, "unknown", ids[0]!, ids[1]!])

    assert.deepEqual(read.toSorted(byId), kept.toSorted(byId))
    assert.deepEqual(await store.readRuns([]), [])
  }),
  lawCase("A list of runs leaves out large fields and cuts long texts", async (store) => {
    const long = `${"😀".repeat(SUMMARY_TEXT_MAX)} and more`
    const begun = await running(store, { ...aFullRun(), delayMs: 0 })
    const plain = await enqueued(store, aRun())
    const failure = { outcome: "failed", error: long, retry: { afterMs: 600_000 } } as const
    const output = { message: long, details: { large: "x".repeat(10_000) } }
    await store.transition([fail(begun, { ...failure, output }, DEFAULT_RETRY, 0)])

    const expected = [summaryOf(await runById(store, begun.id)), summaryOf(plain)]

    assert.equal(expected[0]!.error, "😀".repeat(SUMMARY_TEXT_MAX))
    for (const filter of [{}, { ids: idsOf(expected) }]) {
      const found = await store.findRuns(filter, aPage())
      assert.deepEqual(found.toSorted(byId), expected.toSorted(byId))
    }
  }),
  lawCase("Text is stored exactly, character by character", async (store) => {
    for (const text of TEXTS) {
      const run = aRun({ trigger: text, reason: text, by: text, payload: { [text]: text } })
      const schedule = aSchedule({ description: text, payload: text, tags: [text], lastError: text })

      const kept = await enqueued(store, run)
      const keptSchedule = await created(store, schedule)

      assert.deepEqual(kept, unclaimed(run, kept))
      assert.deepEqual(keptSchedule, storedSchedule(schedule, keptSchedule.version))
    }
  }),
  lawCase("Every JSON value is stored exactly as a payload", async (store) => {
    const runs = PAYLOADS.map((payload) => aRun({ payload }))

    await store.enqueue(runs)

    for (const { id, payload } of runs) assert.deepEqual((await runById(store, id)).payload, payload)
  }),
  lawCase("A payload of 1 MB is stored", async (store) => {
    const payload = { text: "å".repeat(500_000) }

    const run = await enqueued(store, aRun({ payload }))
    const schedule = await created(store, aSchedule({ payload }))

    assert.ok(run.payload !== null && typeof run.payload === "object" && "text" in run.payload)
    assert.equal(run.payload["text"], payload.text)
    assert.deepEqual(schedule.payload, run.payload)
  }),
  lawCase("The earliest and latest instants and the largest numbers are stored", async (store) => {
    const run = aRun({
      scheduledFor: LATEST,
      missed: { from: EARLIEST, until: LATEST, count: 10_000 },
      priority: 1_000_000,
      timeoutMs: Number.MAX_SAFE_INTEGER,
    })
    const schedule = aSchedule({
      startsAt: EARLIEST,
      endsAt: LATEST,
      priority: -1_000_000,
      release: Number.MAX_SAFE_INTEGER,
    })

    const kept = await enqueued(store, run)
    const keptSchedule = await created(store, schedule)

    assert.deepEqual(kept, unclaimed(run, kept))
    assert.deepEqual(keptSchedule, storedSchedule(schedule, keptSchedule.version))
  }),
  lawCase("The longest ids are stored", async (store) => {
    const id = "s".repeat(200)
    const key = concurrencyKeyOf(id)
    const run = aRun({
      id: `${id}@2026-03-27T07:00:00.123Z`,
      scheduleId: id,
      liveKey: key,
      concurrencyKey: key,
    })

    const schedule = await created(store, aSchedule({ id }))
    await store.fire([aPlan(schedule, { runs: [run] })])

    const kept = await runById(store, run.id)
    assert.deepEqual(kept, unclaimed(run, kept))
  }),
  lawCase("Ids are compared exactly, including case, accents and spaces", async (store) => {
    const ids = ["resume", "Resume", "résumé", "re\u0301sume\u0301", "resume "]

    const answers = await store.enqueue(ids.map((id) => aRun({ id, liveKey: id })))
    const schedules = [await created(store, aSchedule({ id: "nightly" })), aSchedule({ id: "Nightly" })]
    const second = await created(store, schedules[1]!)

    assert.deepEqual(
      answers,
      ids.map((id) => ({ outcome: "created", runId: id })),
    )
    for (const id of ids) assert.equal((await runById(store, id)).liveKey, id)
    assert.equal(second.id, "Nightly")
    for (const id of ids) await store.heartbeat(aHeartbeat({ worker: aWorker({ id }) }))
    assert.deepEqual(sorted(idsOf(await allWorkers(store))), sorted(ids))
  }),
  lawCase("A claim returns the run as it is stored", async (store) => {
    const sent = aFullRun()

    const run = await running(store, { ...sent, delayMs: 0, notBefore: null })

    assert.deepEqual(run, await runById(store, run.id))
    const { payload, missed, retry } = sent
    assert.deepEqual(
      { payload, missed, retry },
      { payload: run.payload, missed: run.missed, retry: run.retry },
    )
  }),
  lawCase("A worker's record holds what its last heartbeat sent", async (store) => {
    const first = aWorker({
      ...{ id: "first", host: "alpha ✓", pid: 41, tasks: ["report", "vacuum"], slots: 3 },
      ...{ roles: ["work"], version: "2.0.0-rc.1+é", labels: { region: "eu ✓", "a:b/c": "" } },
    })
    const second = aWorker({ id: "second", tasks: [], state: "draining", roles: ["fire"] })
    const before = {
      slots: 9,
      tasks: ["other"],
      state: "draining",
      version: "1",
      labels: { x: "y" },
      roles: [],
    } as const
    await store.heartbeat(aHeartbeat({ worker: { ...first, ...before } }))

    await store.heartbeat(aHeartbeat({ worker: first }))
    await store.heartbeat(aHeartbeat({ worker: second }))

    const workers = await allWorkers(store)
    assert.deepEqual(sorted(idsOf(workers)), ["first", "second"])
    for (const said of [first, second]) {
      const { startedAt, heartbeatAt, expectedBy, ...kept } = workers.find((worker) => worker.id === said.id)!
      assert.deepEqual(kept, { ...said, running: 0 })
      assert.ok(startedAt <= heartbeatAt && heartbeatAt < expectedBy)
    }
  }),
]

/** The run as it must be stored before its first claim. Instants that the store sets are taken from the run that was read. */
function unclaimed(run: NewRun, kept: Run): Run {
  const { delayMs: _, notBefore: __, ...request } = run
  const { createdAt, completedAt, claimableAt } = kept
  return {
    ...request,
    ...{ createdAt, completedAt, claimableAt },
    ...{ attempt: 0, failures: 0, lost: 0, workerId: null, dueAt: null, startedAt: null },
    ...{ details: null, error: null, progress: null, attempts: [] },
  }
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1
}
