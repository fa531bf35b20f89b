import assert from "node:assert/strict"
import type { EnqueueAnswer } from "belfry/store"
import { test } from "vitest"
import { succeed } from "../../../src/core/run/run.ts"
import {
  aClaim,
  aHeartbeat,
  aLogLine,
  aPlan,
  aPruning,
  aRun,
  aSchedule,
  aSkip,
  heldRun,
} from "../../../src/store/laws/factories.ts"
import { aPage, countRuns, idsOf, pagedRuns, several } from "../../../src/store/laws/steps.ts"
import { aFreshStore, aStoreAlone, commandsDuring } from "./scratch.ts"

const NOTHING = { message: null, details: null }

/** More than two slices, and not a multiple of a slice. */
const MANY = 620

test("a call with many elements is sent as several scripts, and answered in order", async () => {
  const { store, client } = await aStoreAlone()
  const runs = several(MANY, (index) => aRun({ id: `r${index}` }))

  let enqueued: readonly EnqueueAnswer[] = []
  const commands = await commandsDuring(client, async () => {
    enqueued = await store.enqueue([...runs, runs[0]!])
  })
  const first = await store.claim(aClaim({ limit: 1_000 }))
  const second = await store.claim(aClaim({ limit: 1_000 }))
  const third = await store.claim(aClaim({ limit: 1_000 }))
  const held = [first, second, third].flatMap((claimed) => claimed.runs)
  const { gone } = await store.heartbeat(
    aHeartbeat({ held: [...held, { id: "x", attempt: 1 }].map((run) => heldRun(run)) }),
  )
  const answers = await store.transition([...held, held[0]!].map((run) => succeed(run, NOTHING)))
  await store.appendLogs(several(MANY, (index) => aLogLine("r0", { number: index + 1 })))

  assert.equal(commands.get("evalsha"), 3)
  assert.deepEqual(
    enqueued.map(({ outcome }) => outcome),
    [...runs.map(() => "created"), "exists"],
  )
  assert.equal(new Set(idsOf(held)).size, MANY)
  assert.deepEqual(
    [first.nextClaimableAt, second.nextClaimableAt],
    [first.now, second.now],
    "the caller is told to claim again at once",
  )
  assert.notEqual(third.nextClaimableAt, third.now)
  assert.deepEqual(gone, [{ runId: "x", attempt: 1, why: "lost" }])
  assert.deepEqual(
    answers.map(({ outcome }) => outcome),
    [...held.map(() => "done"), "stale"],
  )
  assert.equal((await store.readLogs({ runId: "r0", after: null, limit: 1_000 })).length, MANY)
})

test("many plans, one with many runs, are each fired completely", async () => {
  const { store } = await aFreshStore()
  const schedules = several(300, (index) => aSchedule({ id: `s${index}` }))
  for (const schedule of schedules) await store.putSchedule(schedule, null)
  const stored = await store.findSchedules({}, { orderBy: "id", after: null, limit: 1_000 })
  const plans = stored.map((schedule, index) =>
    aPlan(schedule, {
      runs: several(index === 7 ? 1_100 : 1, (run) =>
        aSkip({ id: `${schedule.id}@${run}`, scheduleId: schedule.id }),
      ),
    }),
  )

  const answers = await store.fire(plans)

  assert.deepEqual(
    answers.map((answer) => (answer.outcome === "done" ? answer.created.length : 0)),
    plans.map((plan) => plan.runs.length),
  )
  assert.equal((await countRuns(store)).skipped, 1_399)
})

test("a search through thousands of runs finds each run once", async () => {
  const { store } = await aFreshStore()
  const runs = several(2_300, (index) =>
    aRun({
      id: `r${index}`,
      task: index % 100 === 0 ? "rare" : "report",
      triggeredBy: index % 2 ? "api" : "manual",
    }),
  )
  await store.enqueue(runs)

  const rare = await store.findRuns({ task: "rare" }, aPage())
  const manual = await pagedRuns(store, { triggeredBy: ["manual"] }, { limit: 100 })
  const counts = await countRuns(store, { triggeredBy: ["manual"], task: "rare" })

  assert.equal(rare.length, 23)
  assert.equal(new Set(idsOf(manual)).size, 1_150)
  assert.equal(counts.pending, 23)
})

test("pruning skips thousands of runs to keep, and deletes up to its limit", async () => {
  const { store } = await aFreshStore()
  await store.enqueue(several(1_200, (index) => aSkip({ id: `kept-${index}`, scheduleId: `s${index}` })))
  await new Promise((resolve) => setTimeout(resolve, 5))
  await store.enqueue(several(300, (index) => aSkip({ id: `loose-${index}` })))
  await new Promise((resolve) => setTimeout(resolve, 5))
  const request = aPruning({ olderThanMs: 1, keepPerSchedule: 1, limit: 200 })

  assert.equal((await store.prune(request)).runs, 200)
  assert.equal((await store.prune(request)).runs, 100)
  assert.equal((await countRuns(store)).skipped, 1_200)
})
