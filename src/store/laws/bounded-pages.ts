import assert from "node:assert/strict"
import { cancel, type NewRun, succeed } from "../../core/run/run.ts"
import { AN_INSTANT, aClaim, aRun, aRunOf, aSchedule, DISTINCT_MS } from "./factories.ts"
import { lawCase } from "./law.ts"
import { afterId, aPage, created, enqueued, idsOf, pagedRuns, runById, sorted } from "./steps.ts"

const NOTHING = { message: null, details: null }

/** Bounded, for pages: a page holds what the filter asks for, and all pages together hold each record once. */
export const BOUNDED_PAGES = [
  lawCase("Schedules are paged by id, ascending, each once", async (store) => {
    for (const id of ["c", "a", "e", "b", "d"]) await created(store, aSchedule({ id }))

    const first = await store.findSchedules({}, { orderBy: "id", after: null, limit: 2 })
    const second = await store.findSchedules({}, { orderBy: "id", after: afterId("b"), limit: 2 })
    const third = await store.findSchedules({}, { orderBy: "id", after: afterId("d"), limit: 2 })

    assert.deepEqual([first, second, third].map(idsOf), [["a", "b"], ["c", "d"], ["e"]])
  }),
  lawCase("Schedules are ordered by the bytes of their ids", async (store) => {
    const ids = ["a", "B", "A-1", "a_1", "a1", "A", "b", "-", "_", "10", "9"]
    for (const id of ids) await created(store, aSchedule({ id }))

    const found: string[] = []
    for (let pages = 0; pages < ids.length + 1; pages++) {
      const page = await store.findSchedules({}, { orderBy: "id", after: afterId(found.at(-1)), limit: 1 })
      found.push(...idsOf(page))
    }

    assert.deepEqual(found, sorted(ids))
  }),
  lawCase("Runs are listed newest first, and a page ends at its limit", async (store, lab) => {
    for (const id of ["m-oldest", "z-middle", "a-newest"]) {
      await enqueued(store, aRun({ id }))
      await lab.pass(DISTINCT_MS)
    }

    assert.deepEqual(idsOf(await store.findRuns({}, aPage({ limit: 2 }))), ["a-newest", "z-middle"])
    assert.deepEqual(idsOf(await store.findRuns({}, aPage())), ["a-newest", "z-middle", "m-oldest"])
  }),
  lawCase("Runs of the same instant are paged without gaps or repeats", async (store) => {
    const ids = ["same", "Same", "same-1", "same_1", "same10", "same9", "-same"]
    const same = ids.map((id) => aRun({ id, scheduledFor: AN_INSTANT }))
    const around = [-1, 1].map((ms) => aRun({ id: `at${ms}`, scheduledFor: AN_INSTANT + ms }))
    await store.enqueue([...same, ...around])

    for (const orderBy of ["scheduledFor", "createdAt"] as const) {
      for (const limit of [1, 2, 3]) {
        const found = idsOf(await pagedRuns(store, {}, { orderBy, limit }))
        assert.deepEqual(sorted(found), sorted(idsOf([...same, ...around])), `${orderBy}, ${limit} a page`)
      }
    }
    const byOccurrence = idsOf(await pagedRuns(store, {}, { orderBy: "scheduledFor", limit: 2 }))
    assert.deepEqual(byOccurrence, ["at1", ...sorted(idsOf(same)).toReversed(), "at-1"])
  }),
  lawCase('With `orderBy: "id"`, runs are paged by id, ascending', async (store) => {
    const ids = ["b/2", "b/10", "B", "b", "a", "c", "-", "_"]
    await store.enqueue(ids.map((id) => aRun({ id })))

    for (const limit of [1, 3, 100]) {
      const found = idsOf(await pagedRuns(store, {}, { orderBy: "id", limit }))
      assert.deepEqual(found, sorted(ids), `${limit} a page`)
    }
    const beginning = idsOf(await pagedRuns(store, { idPrefix: "b" }, { orderBy: "id", limit: 1 }))
    assert.deepEqual(beginning, ["b", "b/10", "b/2"])
  }),
  lawCase("A page includes its `from` and excludes its `until`", async (store) => {
    const at = (ms: number) => aRun({ id: `at${ms}`, scheduledFor: AN_INSTANT + ms })
    await store.enqueue([at(0), at(1), at(2), at(3), at(4)])

    const found = async (bounds: { from?: number; until?: number }, limit = 10) =>
      idsOf(await pagedRuns(store, {}, { orderBy: "scheduledFor", limit, ...boundsAt(bounds) }))

    for (const limit of [1, 2, 10]) {
      assert.deepEqual(await found({ from: 2 }, limit), ["at4", "at3", "at2"])
      assert.deepEqual(await found({ until: 2 }, limit), ["at1", "at0"])
      assert.deepEqual(await found({ from: 1, until: 4 }, limit), ["at3", "at2", "at1"])
      assert.deepEqual(await found({ from: 5 }, limit), [])
    }
  }),
  lawCase("The runs and skips of a schedule are found by `scheduledFor`", async (store) => {
    await created(store, aSchedule({ id: "s" }))
    const run = (id: string, ms: number, over: Partial<NewRun> = {}) =>
      aRunOf("s", { id, scheduledFor: AN_INSTANT + ms, ...over })
    const missed = { from: AN_INSTANT + 3, until: AN_INSTANT + 5, count: 3 }
    await store.enqueue([
      run("before", 0),
      run("a", 1),
      run("b", 1),
      run("c", 1, { state: "skipped", reason: "overlap" }),
      run("range", 5, { state: "skipped", reason: "missed", missed }),
      run("alone", 6, { liveKey: "schedule:s", concurrencyLimit: null }),
      aRunOf("other", { id: "of another", scheduledFor: AN_INSTANT + 7 }),
      aRunOf("s", { id: "of no occurrence" }),
    ])
    const all = ["alone", "range", "c", "b", "a"]
    const page = { orderBy: "scheduledFor", from: AN_INSTANT + 1 } as const

    for (const limit of [1, 2, 3, 4, 10]) {
      const found = await pagedRuns(store, { scheduleId: "s" }, { ...page, limit })
      assert.deepEqual(idsOf(found), all, `${limit} a page`)
      assert.deepEqual(found[1]!.missed, missed)
    }
    const { runs } = await store.claim(aClaim())
    const statesOf = async () =>
      (await pagedRuns(store, { scheduleId: "s" }, page)).map(({ id, state }) => [id, state])[0]
    assert.deepEqual(await statesOf(), ["alone", "running"])
    await store.transition([succeed(runs.find(({ id }) => id === "alone")!, NOTHING)])
    assert.deepEqual(await statesOf(), ["alone", "succeeded"])
  }),
  lawCase("Runs without the instant that `orderBy` names are left out", async (store, lab) => {
    await store.enqueue([
      aRun({ id: "early", scheduledFor: AN_INSTANT, task: "early" }),
      aRun({ id: "late", scheduledFor: AN_INSTANT + 1, task: "late" }),
      aRun({ id: "plain", scheduledFor: null, task: "plain" }),
      aRun({ id: "unfinished", scheduledFor: AN_INSTANT - 1, task: "unfinished" }),
    ])
    for (const id of ["late", "plain", "early"]) {
      await store.transition([cancel(await runById(store, id), { reason: null, by: null })!])
      await lab.pass(DISTINCT_MS)
    }

    const byOccurrence = await store.findRuns({}, aPage({ orderBy: "scheduledFor" }))
    const byCompletion = await store.findRuns({}, aPage({ orderBy: "completedAt" }))

    assert.deepEqual(idsOf(byOccurrence), ["late", "early", "unfinished"])
    assert.deepEqual(idsOf(byCompletion), ["early", "plain", "late"])
    assert.deepEqual(
      idsOf(await pagedRuns(store, {}, { orderBy: "completedAt", limit: 1 })),
      idsOf(byCompletion),
    )
  }),
]

function boundsAt({ from, until }: { from?: number; until?: number }) {
  return {
    ...(from === undefined ? {} : { from: AN_INSTANT + from }),
    ...(until === undefined ? {} : { until: AN_INSTANT + until }),
  }
}
