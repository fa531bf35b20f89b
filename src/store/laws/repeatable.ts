import assert from "node:assert/strict"
import { DEFAULT_RETRY } from "../../core/run/backoff.ts"
import { cancel, fail, isAlreadyMade, succeed } from "../../core/run/run.ts"
import {
  aHeartbeat,
  aLogLine,
  aPlan,
  aPruning,
  aRun,
  aSchedule,
  aSkip,
  heldRun,
  pruned,
  SHORT_MS,
} from "./factories.ts"
import { REPEATABLE_JOURNAL } from "./journal.ts"
import { type Law, lawCase } from "./law.ts"
import { REPEATABLE_STATISTICS } from "./statistics.ts"
import {
  allWorkers,
  created,
  deleteSchedule,
  enqueued,
  logOf,
  putAgain,
  runById,
  running,
  scheduleById,
  scheduleIfThere,
  together,
  withPeers,
} from "./steps.ts"

const NOTHING = { message: null, details: null }

export const REPEATABLE: Law = {
  number: 8,
  name: "Repeatable",
  statement: "Sending a write twice has the effect of sending it once. The caller makes the ids.",
  cases: [
    ...REPEATABLE_JOURNAL,
    ...REPEATABLE_STATISTICS,
    lawCase("Opening twice is the same as once: every record is still stored", async (store) => {
      const schedule = await created(store, aSchedule())
      const run = await running(store, aRun())

      await store.open()

      assert.deepEqual(await scheduleById(store, schedule.id), schedule)
      assert.deepEqual(await runById(store, run.id), run)
    }),
    lawCase("Closing twice is the same as once", async (store) => {
      await store.close()
      await store.close()
    }),
    lawCase("A schedule that is put twice is written once", async (store) => {
      const schedule = aSchedule()
      await store.putSchedule(schedule, null)
      const first = await scheduleById(store, schedule.id)
      await putAgain(store, first, { description: "edited" })
      const second = await scheduleById(store, schedule.id)

      const answers = [
        await store.putSchedule(schedule, null),
        await putAgain(store, first, { description: "edited" }),
      ]

      assert.deepEqual(answers, [{ outcome: "stale" }, { outcome: "stale" }])
      assert.deepEqual(await scheduleById(store, schedule.id), second)
    }),
    lawCase("A schedule that is deleted twice is deleted once", async (store) => {
      const schedule = await created(store, aSchedule())

      const first = await deleteSchedule(store, schedule)
      const second = await deleteSchedule(store, schedule)

      assert.deepEqual([first.outcome, second.outcome], ["done", "stale"])
      assert.equal(await scheduleIfThere(store, schedule.id), null)
    }),
    lawCase("A plan that is fired twice takes effect once", async (store) => {
      const schedule = await created(store, aSchedule())
      const run = aRun()
      const plan = aPlan(schedule, { runs: [run, aSkip()] })
      await store.fire([plan])
      const before = [await scheduleById(store, schedule.id), await runById(store, run.id)]

      assert.deepEqual(await store.fire([plan]), [{ outcome: "stale" }])

      assert.deepEqual([await scheduleById(store, schedule.id), await runById(store, run.id)], before)
    }),
    lawCase(
      "A run that is enqueued twice is stored once, even if it changed in between",
      async (store, lab) => {
        const request = aRun({ liveKey: "key", delayMs: SHORT_MS })
        const waiting = await enqueued(store, request)
        await lab.pass(2 * SHORT_MS)
        const again = await store.enqueue([request])
        const stillWaiting = await runById(store, request.id)
        await store.transition([cancel(waiting, { reason: null, by: null })!])
        const cancelled = await runById(store, request.id)

        const late = await store.enqueue([request])

        const exists = { outcome: "exists", runId: request.id }
        assert.deepEqual([again, late], [[exists], [exists]])
        assert.deepEqual(stillWaiting, waiting)
        assert.deepEqual(await runById(store, request.id), cancelled)
      },
    ),
    lawCase("A run that is in one plan twice is created once", async (store) => {
      const schedule = await created(store, aSchedule())
      const run = aRun({ id: "twin" })

      const [answer] = await store.fire([aPlan(schedule, { runs: [run, aRun({ id: "other" }), run] })])

      assert.deepEqual(answer, { outcome: "done", created: ["twin", "other"] })
      assert.equal((await runById(store, "twin")).state, "pending")
    }),
    lawCase("A heartbeat that is sent twice has the effect of one", async (store) => {
      const run = await running(store, aRun())
      const progress = { fraction: 0.25, message: null }
      const beat = aHeartbeat({ held: [heldRun(run, { progress })] })

      const answers = [await store.heartbeat(beat), await store.heartbeat(beat)]

      assert.deepEqual(
        answers.map(({ gone }) => gone),
        [[], []],
      )
      const { claimableAt, ...after } = await runById(store, run.id)
      const { claimableAt: before, ...rest } = run
      assert.deepEqual(after, { ...rest, progress })
      assert.ok(claimableAt! >= before!)
      assert.equal((await allWorkers(store)).length, 1)
    }),
    lawCase("A worker may leave twice", async (store) => {
      await store.heartbeat(aHeartbeat())
      await store.heartbeat(aHeartbeat({ isLeaving: true }))
      await store.heartbeat(aHeartbeat({ isLeaving: true }))

      assert.deepEqual(await allWorkers(store), [])
    }),
    lawCase("A change that is sent twice is made once, and the second answer shows it", async (store) => {
      const run = await running(store, aRun())
      const change = succeed(run, { message: "Sent", details: null })
      await store.transition([change])
      const before = await runById(store, run.id)

      const [answer] = await store.transition([change])

      assert.ok(answer?.outcome === "stale")
      assert.ok(isAlreadyMade(change, answer))
      assert.deepEqual(await runById(store, run.id), before)
    }),
    lawCase("A failure that is sent twice counts once", async (store) => {
      const run = await running(store, aRun())
      const failure = { outcome: "failed", error: "Error", retry: "policy", output: NOTHING } as const
      const change = fail(run, failure, DEFAULT_RETRY, 0)

      await store.transition([change])
      const before = await runById(store, run.id)
      const [answer] = await store.transition([change])

      assert.ok(answer?.outcome === "stale" && isAlreadyMade(change, answer))
      assert.deepEqual(await runById(store, run.id), before)
      assert.deepEqual([before.failures, before.attempts.length], [1, 1])
    }),
    lawCase("A log line that is sent twice is stored once, as it was sent first", async (store, lab) => {
      const { id } = await enqueued(store, aRun())
      const lines = [1, 2].map((number) => aLogLine(id, { number, message: `line ${number}` }))
      await store.appendLogs(lines)
      const before = await logOf(store, id)
      await lab.pass(SHORT_MS)

      await store.appendLogs(lines)
      await store.appendLogs([aLogLine(id, { number: 2, message: "another", level: "error" })])

      assert.deepEqual(await logOf(store, id), before)
      assert.equal(before.length, 2)
    }),
    lawCase("A call with stored and new log lines adds the new ones", async (store) => {
      const { id } = await enqueued(store, aRun())
      const line = (number: number, message: string) => aLogLine(id, { number, message })
      await store.appendLogs([line(2, "two")])

      await store.appendLogs([line(1, "one"), line(2, "again"), line(3, "three"), line(3, "again")])

      const messages = (await logOf(store, id)).map(({ message }) => message)
      assert.deepEqual(messages, ["one", "two", "three"])
    }),
    lawCase("Log lines of other attempts or runs may have the same number", async (store) => {
      await store.enqueue([aRun({ id: "a" }), aRun({ id: "b" })])

      await store.appendLogs([aLogLine("a", { message: "first" })])
      await store.appendLogs([
        aLogLine("a", { attempt: 2, message: "second" }),
        aLogLine("b", { message: "elsewhere" }),
      ])

      const messagesOf = async (id: string) => (await logOf(store, id)).map(({ message }) => message)
      assert.deepEqual([await messagesOf("a"), await messagesOf("b")], [["first", "second"], ["elsewhere"]])
    }),
    lawCase("Log lines that twenty callers send at once are stored once", async (store, lab) => {
      const peers = await withPeers(store, lab)
      const { id } = await enqueued(store, aRun())

      await together(peers, 20, (peer, index) => {
        const lines = [1, 2, 3].map((number) => aLogLine(id, { number, message: `line ${number}` }))
        return peer.appendLogs(index % 2 === 0 ? lines : lines.reverse())
      })

      const messages = (await logOf(store, id)).map(({ message }) => message)
      assert.deepEqual(messages, ["line 1", "line 2", "line 3"])
    }),
    lawCase("Pruning twice is the same as once", async (store, lab) => {
      await enqueued(store, aSkip())
      await store.heartbeat(aHeartbeat())
      await lab.pass(3 * SHORT_MS)
      const request = aPruning({ olderThanMs: SHORT_MS, silentForMs: SHORT_MS })

      const answers = [await store.prune(request), await store.prune(request)]

      assert.deepEqual(answers, [pruned({ runs: 1, workers: 1 }), pruned()])
    }),
  ],
}
