import assert from "node:assert/strict"
import { DEFAULT_RETRY } from "../../core/backoff.ts"
import { cancel, fail, type NewRun, succeed } from "../../core/run.ts"
import type { OccurrenceRecord, RunFilter, ScheduleFilter, Store } from "../store.ts"
import { AN_INSTANT, aClaim, aRun, aRunOf, aSchedule, aSkip, MOMENT_MS } from "./factories.ts"
import { lawCase } from "./law.ts"
import { aPage, created, enqueued, idsOf, pagedRuns, runById, running, sorted } from "./steps.ts"

const NOTHING = { message: null, details: null }

/** Bounded, of pages: a page holds what was asked for, and the pages together hold all of it once. */
export const BOUNDED_PAGES = [
  lawCase("Schedules come by id, ascending, page after page, each once", async (store) => {
    for (const id of ["c", "a", "e", "b", "d"]) await created(store, aSchedule({ id }))

    const first = await store.findSchedules({}, { afterId: null, limit: 2 })
    const second = await store.findSchedules({}, { afterId: "b", limit: 2 })
    const third = await store.findSchedules({}, { afterId: "d", limit: 2 })

    assert.deepEqual([first, second, third].map(idsOf), [["a", "b"], ["c", "d"], ["e"]])
  }),
  lawCase("Schedules come by the bytes of their ids, whatever they are made of", async (store) => {
    const ids = ["a", "B", "A-1", "a_1", "a1", "A", "b", "-", "_", "10", "9"]
    for (const id of ids) await created(store, aSchedule({ id }))

    const found: string[] = []
    for (let pages = 0; pages < ids.length + 1; pages++) {
      const page = await store.findSchedules({}, { afterId: found[found.length - 1] ?? null, limit: 1 })
      found.push(...idsOf(page))
    }

    assert.deepEqual(found, sorted(ids))
  }),
  lawCase("Runs come newest first, and a page ends at its limit", async (store, lab) => {
    for (const id of ["m-oldest", "z-middle", "a-newest"]) {
      await enqueued(store, aRun({ id }))
      await lab.pass(MOMENT_MS)
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
  lawCase("Occurrences of a schedule come newest first, page after page, each once", async (store) => {
    await created(store, aSchedule({ id: "s" }))
    const run = (id: string, ms: number, over: Partial<NewRun> = {}) =>
      aRunOf("s", { id, scheduledFor: AN_INSTANT + ms, ...over })
    const missed = { from: AN_INSTANT + 3, until: AN_INSTANT + 5, count: 3 }
    await store.enqueue([
      run("settled", 0),
      run("a", 1),
      run("b", 1),
      run("c", 1, { state: "skipped", reason: "overlap" }),
      run("range", 5, { state: "skipped", reason: "missed", missed }),
      run("alone", 6, { liveKey: "schedule:s", concurrencyLimit: 1 }),
      aRunOf("other", { id: "of another", scheduledFor: AN_INSTANT + 7 }),
      aRunOf("s", { id: "of no occurrence" }),
    ])
    const all = ["alone", "range", "c", "b", "a"]

    for (const limit of [1, 2, 3, 4, 10]) {
      const found: OccurrenceRecord[] = []
      for (let pages = 0; pages <= all.length; pages++) {
        const last = found.at(-1)
        const before = last === undefined ? null : { at: last.scheduledFor, id: last.id }
        const page = await store.findOccurrences({ scheduleId: "s", after: AN_INSTANT, before, limit })
        assert.ok(page.length <= limit)
        found.push(...page)
      }
      assert.deepEqual(idsOf(found), all, `${limit} a page`)
      assert.deepEqual(found[1], {
        ...{ id: "range", state: "skipped", scheduledFor: AN_INSTANT + 5, missed },
      })
    }
  }),
  lawCase("An occurrence is found whatever becomes of its run", async (store) => {
    await created(store, aSchedule({ id: "s" }))
    const run = await running(
      store,
      aRunOf("s", { id: "r", scheduledFor: AN_INSTANT, liveKey: "schedule:s", concurrencyLimit: 1 }),
    )
    const page = { scheduleId: "s", after: AN_INSTANT - 1, before: null, limit: 5 }

    assert.deepEqual(
      (await store.findOccurrences(page)).map(({ id, state }) => [id, state]),
      [["r", "running"]],
    )
    await store.transition([succeed(run, NOTHING)])
    assert.deepEqual(await store.findOccurrences(page), [
      { id: "r", state: "succeeded", scheduledFor: AN_INSTANT, missed: null },
    ])
  }),
  lawCase("Runs are ordered by the instant named, and those without it are left out", async (store, lab) => {
    await store.enqueue([
      aRun({ id: "early", scheduledFor: AN_INSTANT, task: "early" }),
      aRun({ id: "late", scheduledFor: AN_INSTANT + 1, task: "late" }),
      aRun({ id: "plain", scheduledFor: null, task: "plain" }),
      aRun({ id: "unfinished", scheduledFor: AN_INSTANT - 1, task: "unfinished" }),
    ])
    for (const id of ["late", "plain", "early"]) {
      await store.transition([cancel(await runById(store, id), { reason: null, by: null })!])
      await lab.pass(MOMENT_MS)
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
  lawCase("Every part of a schedule filter must hold, and an empty list matches nothing", async (store) => {
    await created(store, aSchedule({ id: "a", task: "report", owner: "billing", tags: ["x", "y"] }))
    await created(store, aSchedule({ id: "b", task: "report", owner: "ops", tags: ["y", "long y"] }))
    await created(store, aSchedule({ id: "c", task: "vacuum", owner: null, tags: [] }))

    const expected: readonly [ScheduleFilter, readonly string[]][] = [
      [{}, ["a", "b", "c"]],
      [{ ids: ["c", "a", "unknown"] }, ["a", "c"]],
      [{ ids: [] }, []],
      [{ task: "report" }, ["a", "b"]],
      [{ owner: "ops" }, ["b"]],
      [{ tag: "y" }, ["a", "b"]],
      [{ tag: "long" }, []],
      [{ task: "report", tag: "x", ids: ["a", "b"] }, ["a"]],
      [{ owner: "billing", task: "vacuum" }, []],
    ]
    for (const [filter, ids] of expected) {
      const found = await store.findSchedules(filter, { afterId: null, limit: 10 })
      assert.deepEqual(idsOf(found), ids, JSON.stringify(filter))
    }
  }),
  lawCase("Every part of a run filter must hold, and an empty list matches nothing", async (store) => {
    await enqueueVaried(store)

    const expected: readonly [RunFilter, readonly string[]][] = [
      [{}, ["a", "b", "c", "d"]],
      [{ ids: ["d", "a", "unknown"] }, ["a", "d"]],
      [{ ids: [] }, []],
      [{ scheduleId: "s1" }, ["a", "b"]],
      [{ task: "vacuum" }, ["c"]],
      [{ states: ["skipped"] }, ["d"]],
      [{ states: ["pending", "skipped"], task: "report" }, ["a", "b", "d"]],
      [{ states: [] }, []],
      [{ triggeredBy: ["manual", "backfill"] }, ["b", "c"]],
      [{ triggeredBy: [] }, []],
      [{ concurrencyKey: "k" }, ["b", "c"]],
      [{ concurrencyKey: "k", scheduleId: "s1", triggeredBy: ["manual"] }, ["b"]],
      [{ scheduleId: "s1", states: ["running"] }, []],
    ]
    for (const [filter, ids] of expected) {
      const text = JSON.stringify(filter)
      assert.deepEqual(sorted(idsOf(await store.findRuns(filter, aPage()))), ids, text)
      const counts = await store.countRuns(filter)
      assert.equal(
        Object.values(counts).reduce((sum, count) => sum + count, 0),
        ids.length,
        `count of ${text}`,
      )
      const paged = await pagedRuns(store, filter, { limit: 1 })
      assert.deepEqual(sorted(idsOf(paged)), ids, `pages of ${text}`)
    }
  }),
  lawCase("A filter compares exactly: case, accents and trailing spaces", async (store) => {
    const names = ["name", "Name", "náme", "name "]
    for (const [index, name] of names.entries()) {
      await created(store, aSchedule({ id: `s${index}`, task: name, owner: name, tags: [name] }))
    }
    await store.enqueue(
      names.map((name, index) =>
        aRun({ id: `r${index}`, task: name, scheduleId: name, concurrencyKey: name }),
      ),
    )

    for (const [index, name] of names.entries()) {
      for (const filter of [{ task: name }, { owner: name }, { tag: name }]) {
        const found = await store.findSchedules(filter, { afterId: null, limit: 10 })
        assert.deepEqual(idsOf(found), [`s${index}`], JSON.stringify(filter))
      }
      for (const filter of [{ task: name }, { scheduleId: name }, { concurrencyKey: name }]) {
        const found = await store.findRuns(filter, aPage())
        assert.deepEqual(idsOf(found), [`r${index}`], JSON.stringify(filter))
        assert.equal((await store.countRuns(filter)).pending, 1, `count of ${JSON.stringify(filter)}`)
      }
    }
  }),
  lawCase("Runs are counted by state, those of no run as nought", async (store) => {
    const nought = await store.countRuns({})
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

    assert.deepEqual(nought, { pending: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 })
    assert.deepEqual(await store.countRuns({}), {
      ...{ pending: 3, running: 1, succeeded: 2, failed: 1, cancelled: 1, skipped: 1 },
    })
  }),
]

async function enqueueVaried(store: Store): Promise<void> {
  await store.enqueue([
    aRun({ id: "a", scheduleId: "s1", triggeredBy: "schedule" }),
    aRun({ id: "b", scheduleId: "s1", triggeredBy: "manual", concurrencyKey: "k" }),
    aRun({ id: "c", scheduleId: "s2", triggeredBy: "backfill", concurrencyKey: "k", task: "vacuum" }),
    aSkip({ id: "d", scheduleId: null, triggeredBy: "api" }),
  ])
}
