import assert from "node:assert/strict"
import { DEFAULT_RETRY } from "../../core/run/backoff.ts"
import { fail, type NewRun, release } from "../../core/run/run.ts"
import type { StoredLogLine } from "../store.ts"
import { BOUNDED_COUNTS } from "./bounded-counts.ts"
import { BOUNDED_FILTERS } from "./bounded-filters.ts"
import { BOUNDED_MOVING } from "./bounded-moving.ts"
import { BOUNDED_PAGES } from "./bounded-pages.ts"
import { BOUNDED_PRUNING } from "./bounded-pruning.ts"
import { BOUNDED_SCHEDULES } from "./bounded-schedules.ts"
import { BOUNDED_DOCUMENTS } from "./documents.ts"
import {
  aClaim,
  aHeartbeat,
  aLogLine,
  aPlan,
  aRun,
  aSchedule,
  aWorker,
  DISTINCT_MS,
  LONG_MS,
  SHORT_MS,
} from "./factories.ts"
import { BOUNDED_JOURNAL } from "./journal.ts"
import { type Law, lawCase } from "./law.ts"
import { BOUNDED_STATISTICS } from "./statistics.ts"
import { created, enqueued, idsOf, runById, several, sorted, withEnoughTime } from "./steps.ts"

const NOTHING = { message: null, details: null }
const FAILURE = { outcome: "failed", error: "Error", retry: "policy", output: NOTHING } as const

function placeOf({ attempt, number }: StoredLogLine) {
  return { attempt, number }
}

const limits = [
  lawCase(
    "At most `limit` due schedules are returned, and firing them in turn reaches all",
    async (store, lab) => {
      const ids = several(5, (index) => `s${index}`)
      for (const id of ids) await created(store, aSchedule({ id, nextRunAt: 0 }))

      const fired: string[] = []
      for (let reads = 0; reads < 200 && fired.length < 5; reads++) {
        const { due } = await store.dueSchedules({ limit: 2 })
        assert.ok(due.length <= 2, `${due.length} schedules were returned`)
        const plans = due.map(({ schedule }) => aPlan({ ...schedule, nextRunAt: null }))
        await store.fire(plans)
        fired.push(...plans.map((plan) => plan.scheduleId))
        if (due.length === 0) await lab.pass(SHORT_MS)
      }

      assert.deepEqual(sorted(fired), ids)
      assert.deepEqual((await store.dueSchedules({ limit: 2 })).due, [])
    },
  ),
  lawCase("At most `limit` runs are given", async (store) => {
    await store.enqueue(several(5, () => aRun()))

    const first = await store.claim(aClaim({ limit: 2 }))
    const second = await store.claim(aClaim({ limit: 2 }))
    const third = await store.claim(aClaim({ limit: 2 }))

    assert.deepEqual(
      [first, second, third].map(({ runs }) => runs.length),
      [2, 2, 1],
    )
  }),
  lawCase(
    "All due runs are given to a worker that claims again while `nextClaimableAt` equals `now`",
    async (store) => {
      const ids = several(600, (index) => `r${index}`)
      await store.enqueue(ids.map((id) => aRun({ id })))

      const given: string[] = []
      for (;;) {
        const { now, runs, nextClaimableAt } = await store.claim(aClaim({ limit: 1_000 }))
        given.push(...idsOf(runs))
        if (nextClaimableAt !== now) break
        assert.ok(runs.length > 0, "the answer says that more runs are due, but gives none")
      }

      assert.deepEqual(sorted(given), sorted(ids))
    },
  ),
  lawCase("Runs are given by priority, highest first", async (store) => {
    const priorities = [0, 10, -1_000_000, 1_000_000, -10, 9]
    await store.enqueue(priorities.map((priority) => aRun({ id: `p${priority}`, priority })))

    const first = await store.claim(aClaim({ limit: 3 }))
    const rest = await store.claim(aClaim({ limit: 10 }))

    assert.deepEqual(idsOf(first.runs), ["p1000000", "p10", "p9"])
    assert.deepEqual(idsOf(rest.runs), ["p0", "p-10", "p-1000000"])
  }),
  lawCase("Of equal priorities the longest due is given first, not the first stored", async (store, lab) => {
    await withEnoughTime(async (marginMs) => {
      const task = `task ${marginMs}`
      const now = await store.now()
      const at = (step: number) => now + marginMs + step * DISTINCT_MS
      const run = (name: string, over: Partial<NewRun>) => aRun({ id: `${name} ${marginMs}`, task, ...over })
      await store.enqueue([
        run("second", { notBefore: at(2) }),
        run("urgent", { notBefore: at(3), priority: 1 }),
        run("first", { notBefore: at(1) }),
        run("third", { notBefore: now - 1, delayMs: at(4) - now }),
      ])
      // A run that is due when it is stored counts as due from that instant, which would change the order.
      if ((await store.now()) >= at(1)) return "too late"
      await lab.pass(at(5) - now)

      const claim = aClaim({ tasks: [{ name: task, leaseMs: LONG_MS }], limit: 2 })
      const given = [...(await store.claim(claim)).runs, ...(await store.claim(claim)).runs]

      const order = ["urgent", "first", "second", "third"]
      assert.deepEqual(
        idsOf(given),
        order.map((name) => `${name} ${marginMs}`),
      )
      return "proved"
    })
  }),
  lawCase(
    "A released run keeps its place before runs due after it; a failed attempt goes behind them",
    async (store, lab) => {
      const { id } = await enqueued(store, aRun({ id: "first" }))
      await lab.pass(DISTINCT_MS)
      await enqueued(store, aRun({ id: "second" }))
      const places: unknown[] = []

      for (let times = 0; times < 2; times++) {
        const { runs } = await store.claim(aClaim({ limit: 1 }))
        await store.transition(runs.map((run) => release(run, "stopping")))
        places.push([idsOf(runs), (await runById(store, id)).claimableAt === runs[0]!.dueAt])
      }
      const { runs } = await store.claim(aClaim({ limit: 1 }))
      await lab.pass(DISTINCT_MS)
      await store.transition(runs.map((run) => fail(run, FAILURE, { ...DEFAULT_RETRY, baseMs: 0 }, 0)))

      assert.deepEqual(places, [
        [["first"], true],
        [["first"], true],
      ])
      await lab.pass(DISTINCT_MS)
      assert.deepEqual(idsOf((await store.claim(aClaim())).runs), ["second", "first"])
    },
  ),
  lawCase("At most `limit` log lines are returned, and the pages hold each line once", async (store) => {
    const { id } = await enqueued(store, aRun())
    const places = [1, 2, 3].flatMap((attempt) => [1, 2, 10].map((number) => ({ attempt, number })))
    await store.appendLogs(places.map((place) => aLogLine(id, place)))

    for (const limit of [1, 2, 4]) {
      const found: StoredLogLine[] = []
      for (let pages = 0; pages < 10; pages++) {
        const lines = await store.readLogs({ runId: id, after: found.at(-1) ?? null, limit })
        assert.ok(lines.length <= limit, `${lines.length} lines were returned`)
        found.push(...lines)
      }
      assert.deepEqual(found.map(placeOf), places, `${limit} a page`)
    }
  }),
  lawCase("A page of log lines begins after its cursor, even if that line isn't stored", async (store) => {
    const { id } = await enqueued(store, aRun())
    const places = [1, 3].flatMap((attempt) => [2, 4].map((number) => ({ attempt, number })))
    await store.appendLogs(places.map((place) => aLogLine(id, place)))

    const after = async (attempt: number, number: number) =>
      (await store.readLogs({ runId: id, after: { attempt, number }, limit: 10 })).map(placeOf)

    assert.deepEqual(await after(1, 1), places)
    assert.deepEqual(await after(1, 3), places.slice(1))
    assert.deepEqual(await after(2, 100), places.slice(2))
    assert.deepEqual(await after(3, 4), [])
  }),
  lawCase("Workers are paged by id, ascending, each once", async (store) => {
    for (const id of ["c", "a", "B", "e", "b", "-d"]) {
      await store.heartbeat(aHeartbeat({ worker: aWorker({ id }) }))
    }

    const first = await store.findWorkers({ afterId: null, limit: 2 })
    const second = await store.findWorkers({ afterId: "B", limit: 3 })
    const third = await store.findWorkers({ afterId: "c", limit: 3 })

    assert.deepEqual([first, second, third].map(idsOf), [["-d", "B"], ["a", "b", "c"], ["e"]])
  }),
]

export const BOUNDED: Law = {
  number: 9,
  name: "Bounded",
  statement: "Every call that returns records takes a limit.",
  cases: [
    ...limits,
    ...BOUNDED_PAGES,
    ...BOUNDED_SCHEDULES,
    ...BOUNDED_COUNTS,
    ...BOUNDED_FILTERS,
    ...BOUNDED_MOVING,
    ...BOUNDED_PRUNING,
    ...BOUNDED_DOCUMENTS,
    ...BOUNDED_JOURNAL,
    ...BOUNDED_STATISTICS,
  ],
}
