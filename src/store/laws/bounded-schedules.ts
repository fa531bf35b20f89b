import assert from "node:assert/strict"
import { DEFAULT_RETRY } from "../../core/run/backoff.ts"
import { fail, succeed } from "../../core/run/run.ts"
import { OVERDUE_AFTER_MS, SCHEDULE_STATES, scheduleStateOf } from "../../core/schedule/schedule-state.ts"
import { MINUTE } from "../../core/time/instant.ts"
import type { ScheduleFilter, SchedulePage, Store } from "../store.ts"
import { aRunOf, aSchedule, DISTINCT_MS } from "./factories.ts"
import { lawCase } from "./law.ts"
import { created, idsOf, pagedSchedules, running, sorted } from "./steps.ts"

/** Bounded, for schedules: which schedules are on a page, and in which order. */
export const BOUNDED_SCHEDULES = [
  lawCase("A schedule is found by its state", async (store) => {
    await createOneOfEachState(store)

    for (const state of SCHEDULE_STATES) assert.deepEqual(await found(store, { states: [state] }), [state])
    assert.deepEqual(await found(store, { states: ["ok", "failing", "new"] }), ["failing", "new", "ok"])
    assert.deepEqual(await found(store, { states: [] }), [])
    assert.deepEqual(await found(store, { states: ["ok", "paused"], ids: ["ok", "new"] }), ["ok"])
    assert.deepEqual(await found(store, { states: SCHEDULE_STATES }), sorted(SCHEDULE_STATES))
    for (const schedule of await pagedSchedules(store, {}, { limit: 3 }))
      assert.equal(scheduleStateOf(schedule, await store.now()), schedule.id)
  }),
  lawCase("A schedule is overdue by the store's clock", async (store) => {
    const now = await store.now()
    await created(store, aSchedule({ id: "late", nextRunAt: now - OVERDUE_AFTER_MS - 1 }))
    await created(store, aSchedule({ id: "due", nextRunAt: now - OVERDUE_AFTER_MS + MINUTE }))

    assert.deepEqual(await found(store, { states: ["overdue"] }), ["late"])
  }),
  lawCase(
    "A text is found in an id, a task or a description, literally except for the case of ASCII letters",
    async (store) => {
      await created(
        store,
        aSchedule({ id: "Nightly-Report", task: "report", description: "100% of Accounts" }),
      )
      await created(
        store,
        aSchedule({ id: "cleanup", task: "Vacuum", description: 'says "É_x" \\ and more' }),
      )

      const expected: readonly [text: string, ids: readonly string[]][] = [
        ["nightly", ["Nightly-Report"]],
        ["NIGHTLY-r", ["Nightly-Report"]],
        ["report", ["Nightly-Report"]],
        ["vac", ["cleanup"]],
        ["ACCOUNTS", ["Nightly-Report"]],
        ["0%", ["Nightly-Report"]],
        ["0_", []],
        ["%", ["Nightly-Report"]],
        ["_", ["cleanup"]],
        ["\\ AND", ["cleanup"]],
        ['"É_X"', ["cleanup"]],
        ["é_x", []],
        [".*", []],
        ["n", ["Nightly-Report", "cleanup"]],
        ["nothing like it", []],
      ]
      for (const [text, ids] of expected) assert.deepEqual(await found(store, { text }), ids, text)
      assert.deepEqual(await found(store, { text: "n", task: "report" }), ["Nightly-Report"])
    },
  ),
  lawCase("Schedules are found by the prefix of their id", async (store) => {
    for (const id of ["app-a", "app-b", "app", "Apple", "b-app-"]) await created(store, aSchedule({ id }))

    assert.deepEqual(await found(store, { idPrefix: "app" }), ["app", "app-a", "app-b"])
    assert.deepEqual(await found(store, { idPrefix: "app-" }), ["app-a", "app-b"])
    assert.deepEqual(await found(store, { idPrefix: "A" }), ["Apple"])
    assert.deepEqual(await found(store, { idPrefix: "c" }), [])
  }),
  lawCase("By next run, the soonest schedule comes first, and schedules without one last", async (store) => {
    const at = (await store.now()) + MINUTE
    await created(store, aSchedule({ id: "c", nextRunAt: at, tags: ["t"] }))
    await created(store, aSchedule({ id: "a", nextRunAt: at + 1 }))
    await created(store, aSchedule({ id: "b", nextRunAt: at, tags: ["t"] }))
    await created(store, aSchedule({ id: "e", nextRunAt: null, tags: ["t"] }))
    await created(store, aSchedule({ id: "d", nextRunAt: null }))

    for (const limit of [1, 2, 3, 10]) {
      assert.deepEqual(await inOrder(store, {}, { orderBy: "nextRunAt", limit }), ["b", "c", "a", "d", "e"])
      assert.deepEqual(await inOrder(store, { tag: "t" }, { orderBy: "nextRunAt", limit }), ["b", "c", "e"])
    }
  }),
  lawCase("By last run, the newest comes first, and schedules without one last", async (store, lab) => {
    for (const id of ["a", "b", "c", "d", "e"]) await created(store, aSchedule({ id }))
    for (const id of ["c", "a"]) {
      await store.enqueue([aRunOf(id)])
      await lab.pass(DISTINCT_MS)
    }
    // At one instant.
    await store.enqueue([aRunOf("d"), aRunOf("b")])

    for (const limit of [1, 2, 3, 10]) {
      const page = { orderBy: "lastRunAt", limit } as const
      assert.deepEqual(await inOrder(store, {}, page), ["b", "d", "a", "c", "e"])
      assert.deepEqual(await inOrder(store, { ids: ["e", "c", "b"] }, page), ["b", "c", "e"])
    }
  }),
]

const NOTHING = { message: null, details: null }

/** The id of each schedule is its state. */
export async function createOneOfEachState(store: Store): Promise<void> {
  const now = await store.now()
  const pause = { at: now, until: null, reason: null, by: null }
  const later = { nextRunAt: now + MINUTE }
  await created(store, aSchedule({ id: "broken", ...later, lastError: "No such zone", enabled: false }))
  await created(store, aSchedule({ id: "finished", nextRunAt: null, finishedAt: now, enabled: false }))
  await created(store, aSchedule({ id: "disabled", nextRunAt: null, enabled: false, paused: pause }))
  await created(store, aSchedule({ id: "paused", nextRunAt: 1, paused: pause }))
  await created(store, aSchedule({ id: "overdue", nextRunAt: 1 }))
  await created(store, aSchedule({ id: "failing", ...later }))
  await created(store, aSchedule({ id: "new", ...later }))
  await created(store, aSchedule({ id: "ok", ...later }))
  const failure = { outcome: "failed", error: "Broken", retry: "never", output: NOTHING } as const
  await store.transition([succeed(await running(store, aRunOf("ok")), NOTHING)])
  for (const id of ["broken", "finished", "disabled", "paused", "overdue", "failing"])
    await store.transition([fail(await running(store, aRunOf(id)), failure, DEFAULT_RETRY, 0)])
}

function found(store: Store, filter: ScheduleFilter): Promise<readonly string[]> {
  return inOrder(store, filter, { limit: 2 })
}

async function inOrder(
  store: Store,
  filter: ScheduleFilter,
  page: Partial<SchedulePage>,
): Promise<readonly string[]> {
  return idsOf(await pagedSchedules(store, filter, page))
}
