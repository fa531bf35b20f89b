import assert from "node:assert/strict"
import { DEFAULT_RETRY } from "../../core/run/backoff.ts"
import { cancel, fail, succeed } from "../../core/run/run.ts"
import { noRunCounts } from "../../core/run/run-states.ts"
import { noScheduleCounts, SCHEDULE_STATES } from "../../core/schedule/schedule-state.ts"
import type { ScheduleFilter } from "../store.ts"
import { createOneOfEachState } from "./bounded-schedules.ts"
import { aClaim, aRun, aSchedule, aSkip } from "./factories.ts"
import { lawCase } from "./law.ts"
import { countRuns, created, several } from "./steps.ts"

/** Bounded, for counts. */
export const BOUNDED_COUNTS = [
  lawCase("Runs are counted by state, and a state without runs is 0", async (store) => {
    const atFirst = await countRuns(store)
    const states = ["succeeded", "succeeded", "failed", "cancelled", "running"]
    await store.enqueue(states.map((state, index) => aRun({ id: `${state} ${index}` })))
    const { runs } = await store.claim(aClaim())
    const failure = { outcome: "failed", error: "Error", retry: "never", output: NOTHING } as const
    for (const run of runs) {
      if (run.id.startsWith("succeeded")) await store.transition([succeed(run, NOTHING)])
      if (run.id.startsWith("failed")) await store.transition([fail(run, failure, DEFAULT_RETRY, 0)])
      if (run.id.startsWith("cancelled")) await store.transition([cancel(run, { reason: null, by: null })!])
    }
    await store.enqueue([aRun(), aRun(), aRun(), aSkip()])

    assert.deepEqual(atFirst, { pending: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 })
    assert.deepEqual(await countRuns(store), {
      ...{ pending: 3, running: 1, succeeded: 2, failed: 1, cancelled: 1, skipped: 1 },
    })
  }),
  lawCase("Schedules are counted by state, with the same filters as in lists", async (store) => {
    assert.deepEqual((await store.count({ schedules: {}, limit: 10 })).schedules, noScheduleCounts())
    await createOneOfEachState(store)
    await created(store, aSchedule({ id: "new-too", task: "other" }))

    const { runs, schedules } = await store.count({ schedules: {}, limit: 10 })
    const oneEach = Object.fromEntries(SCHEDULE_STATES.map((state) => [state, 1]))
    assert.deepEqual(schedules, { ...oneEach, new: 2 })
    assert.deepEqual(runs, noRunCounts())
    const counted = async (filter: object) => (await store.count({ schedules: filter, limit: 10 })).schedules
    assert.deepEqual(await counted({ task: "other" }), { ...noScheduleCounts(), new: 1 })
    assert.deepEqual(await counted({ ids: ["paused", "ok", "unknown"] }), {
      ...noScheduleCounts(),
      ...{ paused: 1, ok: 1 },
    })
    assert.deepEqual(await counted({ states: ["failing", "new"], idPrefix: "n" }), {
      ...noScheduleCounts(),
      new: 2,
    })
    assert.deepEqual(await counted({ states: [] }), noScheduleCounts())
  }),
  lawCase("Schedules are counted by task and state, and the tasks are ordered by name", async (store) => {
    await createOneOfEachState(store)
    await created(store, aSchedule({ id: "b", task: "b" }))
    await created(store, aSchedule({ id: "b-off", task: "b", enabled: false }))
    for (const task of ["B", "b-1", "ä", "\u{1f600}", "\uffff"]) await created(store, aSchedule({ task }))

    const counted = async (filter: ScheduleFilter | null) =>
      (await store.count({ ...(filter === null ? {} : { schedules: filter }), limit: 20 })).tasks
    const one = { ...noScheduleCounts(), new: 1 }
    const byTask = new Map((await counted({})).map(({ task, schedules }) => [task, schedules]))
    // By the bytes of UTF-8, in which the longest codes are the last.
    assert.deepEqual([...byTask.keys()], ["B", "b", "b-1", "report", "ä", "\uffff", "\u{1f600}"])
    assert.deepEqual(
      byTask.get("report"),
      Object.fromEntries(SCHEDULE_STATES.map((state) => [state, 1])),
      "one of each state",
    )
    assert.deepEqual(byTask.get("b"), { ...one, disabled: 1 })
    assert.deepEqual(await counted({ ids: ["b", "unknown"] }), [{ task: "b", schedules: one }])
    assert.deepEqual(await counted({ states: ["disabled"], task: "b" }), [
      { task: "b", schedules: { ...noScheduleCounts(), disabled: 1 } },
    ])
    assert.deepEqual([await counted({ states: [] }), await counted(null)], [[], []])
  }),
  lawCase("No more tasks are counted than the limit, and each up to the limit", async (store) => {
    for (const [index, task] of ["a", "a", "a", "b", "c"].entries())
      await created(store, aSchedule({ id: `s${index}`, task }))

    const counted = async (limit: number) =>
      (await store.count({ schedules: {}, limit })).tasks.map(({ task, schedules }) => [task, schedules.new])
    assert.deepEqual(await counted(1), [["a", 1]])
    assert.deepEqual(await counted(2), [
      ["a", 2],
      ["b", 1],
    ])
    assert.deepEqual(await counted(10), [
      ["a", 3],
      ["b", 1],
      ["c", 1],
    ])
  }),
  lawCase("Each state is counted up to the limit", async (store) => {
    await store.enqueue(several(5, () => aRun()))
    await store.enqueue([aSkip(), aSkip(), aRun({ scheduleId: "s", task: "other" })])
    for (const id of ["a", "b", "c"]) await created(store, aSchedule({ id }))
    await created(store, aSchedule({ id: "off", enabled: false }))

    for (const limit of [1, 2, 3, 100]) {
      const upTo = (count: number) => Math.min(count, limit)
      const { runs, schedules } = await store.count({ runs: {}, schedules: {}, limit })
      assert.deepEqual(runs, { ...noRunCounts(), pending: upTo(6), skipped: upTo(2) }, `runs up to ${limit}`)
      assert.deepEqual(
        schedules,
        { ...noScheduleCounts(), new: upTo(3), disabled: upTo(1) },
        `schedules up to ${limit}`,
      )
      assert.equal((await store.count({ runs: { task: "report" }, limit })).runs.pending, upTo(5))
      assert.deepEqual((await store.count({ runs: {}, limit })).schedules, noScheduleCounts())
    }
  }),
]

const NOTHING = { message: null, details: null }
