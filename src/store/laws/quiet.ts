import assert from "node:assert/strict"
import { cancel, succeed } from "../../core/run/run.ts"
import type { Store } from "../store.ts"
import {
  aClaim,
  aHeartbeat,
  aLogLine,
  aPlan,
  aPruning,
  aRun,
  aSchedule,
  aSkip,
  aStoredSchedule,
  heldRun,
  pruned,
  SHORT_MS,
} from "./factories.ts"
import { type Law, lawCase } from "./law.ts"
import {
  allWorkers,
  aPage,
  countRuns,
  created,
  deleteSchedule,
  enqueued,
  logOf,
  putAgain,
  running,
  several,
  together,
  withPeers,
} from "./steps.ts"

const NOTHING = { message: null, details: null }

export const QUIET: Law = {
  number: 10,
  name: "Quiet",
  statement: "Losing a race is an answer. An exception means that the store is unreachable or unusable.",
  cases: [
    lawCase("A call about records that aren't stored returns an answer, not an exception", async (store) => {
      const absent = aStoredSchedule({ version: 3 })

      assert.deepEqual(await store.fire([aPlan(absent, { runs: [aRun()] })]), [{ outcome: "stale" }])
      assert.deepEqual(await deleteSchedule(store, absent), { outcome: "stale" })
      assert.deepEqual(await store.readRuns(["unknown"]), [])
      assert.deepEqual(await logOf(store, "unknown"), [])
      assert.deepEqual(await allWorkers(store), [])
      assert.deepEqual(await store.prune(aPruning()), pruned())
      assert.deepEqual((await store.dueSchedules({ limit: 10 })).due, [])
      assert.equal((await countRuns(store)).pending, 0)
    }),
    lawCase("A call with an empty list, no tasks or a limit of 0 does nothing", async (store) => {
      await enqueued(store, aRun())

      assert.deepEqual(await store.fire([]), [])
      assert.deepEqual(await store.enqueue([]), [])
      assert.deepEqual(await store.transition([]), [])
      await store.appendLogs([])
      const claim = await store.claim(aClaim({ tasks: [] }))
      assert.deepEqual([claim.runs, claim.nextClaimableAt], [[], null])
      assert.deepEqual((await store.claim(aClaim({ limit: 0 }))).runs, [])
    }),
    lawCase(
      "Log lines of a run that isn't stored are dropped without an error, and the others are stored",
      async (store, lab) => {
        const gone = await enqueued(store, aSkip())
        await lab.pass(3 * SHORT_MS)
        await store.prune(aPruning({ olderThanMs: SHORT_MS }))
        const stored = await enqueued(store, aRun())

        await store.appendLogs([aLogLine(gone.id), aLogLine(stored.id), aLogLine("unknown")])

        assert.equal((await logOf(store, stored.id)).length, 1)
        await enqueued(store, aRun({ id: "unknown" }))
        assert.deepEqual([await logOf(store, gone.id), await logOf(store, "unknown")], [[], []])
      },
    ),
    lawCase("Twenty callers that change the same records at once all get answers", async (store, lab) => {
      const peers = await withPeers(store, lab)
      const schedule = await created(store, aSchedule({ nextRunAt: 0 }))
      const run = await running(store, aRun())
      const wanted = aRun({ liveKey: "key" })

      const answers = await together(peers, 20, (peer, index) =>
        Promise.all([
          peer.fire([aPlan(schedule, { runs: [wanted] })]),
          peer.enqueue([index % 2 === 0 ? wanted : aRun({ liveKey: "key" })]),
          peer.claim(aClaim({ workerId: `w${index}`, limit: 3 })),
          peer.transition([
            index % 2 === 0 ? succeed(run, NOTHING) : cancel(run, { reason: null, by: null })!,
          ]),
          peer.heartbeat(aHeartbeat({ held: [heldRun(run)] })),
          peer.dueSchedules({ limit: 5 }),
          putAgain(peer, schedule, { description: `${index}` }),
          peer.appendLogs([1, 2 + index].map((number) => aLogLine(run.id, { number }))),
          peer.prune(aPruning()),
        ]),
      )

      assert.equal(answers.length, 20)
      const changes = answers.flatMap(([fired, , , , , , put]) => [fired[0]!.outcome, put.outcome])
      assert.ok(
        changes.filter((outcome) => outcome === "done").length <= 1,
        "at most one change to one version",
      )
      assert.equal((await logOf(store, run.id)).length, 21)
      const { pending, running: busy } = await countRuns(store)
      assert.equal(pending + busy, 1, "one run holds the key; the other is finished")
    }),
    lawCase("Batches that name the same records in different orders don't deadlock", async (store, lab) => {
      const peers = await withPeers(store, lab)
      const runs = several(10, (index) => aRun({ id: `r${index}` }))
      await store.enqueue(runs)
      const { runs: held } = await store.claim(aClaim())

      const answers = await together(peers, 10, (peer, index) => {
        const changes = held.map((run) => succeed(run, NOTHING))
        return peer.transition(index % 2 === 0 ? changes : changes.reverse())
      })

      const outcomes = answers.flat().map((answer) => answer.outcome)
      assert.equal(outcomes.filter((outcome) => outcome === "done").length, 10)
      assert.equal((await countRuns(store)).succeeded, 10)
    }),
    lawCase("After `close`, every call throws", async (store) => {
      const schedule = await created(store, aSchedule())
      await store.close()

      for (const [name, call] of Object.entries(everyCall(store, schedule.version))) {
        await assert.rejects(async () => call(), `${name} throws`)
      }
    }),
  ],
}

function everyCall(store: Store, version: number): Record<string, () => Promise<unknown>> {
  const schedule = aStoredSchedule({ version })
  return {
    open: () => store.open(),
    now: () => store.now(),
    listen: () => store.listen(() => undefined),
    putSchedule: () => store.putSchedule(aSchedule(), null),
    dueSchedules: () => store.dueSchedules({ limit: 1 }),
    fire: () => store.fire([aPlan(schedule)]),
    enqueue: () => store.enqueue([aRun()]),
    claim: () => store.claim(aClaim()),
    heartbeat: () => store.heartbeat(aHeartbeat()),
    transition: () => store.transition([succeed({ ...RUNNING, id: "r" }, NOTHING)]),
    prune: () => store.prune(aPruning()),
    appendLogs: () => store.appendLogs([aLogLine("r")]),
    readLogs: () => logOf(store, "r"),
    findSchedules: () => store.findSchedules({}, { orderBy: "id", after: null, limit: 1 }),
    findRuns: () => store.findRuns({}, aPage()),
    count: () => store.count({ runs: {}, schedules: {}, limit: 1 }),
    findWorkers: () => allWorkers(store),
  }
}

const RUNNING = { state: "running", attempt: 1, failures: 0, lost: 0 } as const
