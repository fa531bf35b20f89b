import assert from "node:assert/strict"
import type { JournalEntry } from "../../core/records/journal.ts"
import type { JournalFilter, JournalPage, Store } from "../store.ts"
import {
  aDocument,
  anEntry,
  aPlan,
  aPruning,
  aRun,
  aSchedule,
  DISTINCT_MS,
  LONG_MS,
  pruned,
} from "./factories.ts"
import { lawCase } from "./law.ts"
import { PAYLOADS, TEXTS } from "./samples.ts"
import { created, enqueued, idsOf, several, sorted } from "./steps.ts"

const DONE = { outcome: "done" }

async function entries(
  store: Store,
  filter: JournalFilter = {},
  page: Partial<JournalPage> = {},
): Promise<readonly JournalEntry[]> {
  return store.readJournal(filter, { order: "oldest", after: null, limit: 1_000, ...page })
}

async function paged(
  store: Store,
  filter: JournalFilter,
  page: Partial<JournalPage>,
): Promise<readonly string[]> {
  const found: JournalEntry[] = []
  for (let after: JournalPage["after"] = null; found.length < 100; ) {
    const some: readonly JournalEntry[] = await entries(store, filter, { ...page, after })
    assert.ok(some.length <= (page.limit ?? 1_000), `${some.length} entries were returned`)
    found.push(...some)
    const last = some.at(-1)
    if (last === undefined) break
    after = { at: last.at, id: last.id }
  }
  return idsOf(found)
}

export const WHOLE_JOURNAL = [
  lawCase("A journal entry is stored exactly as it was sent, with any values", async (store) => {
    const given = [
      ...PAYLOADS.map((value) => anEntry({ before: value, after: [value] })),
      ...TEXTS.map((text) => anEntry({ by: text, reason: text, after: { [text]: text } })),
      anEntry({ action: "a b", subject: "alert", subjectId: "x:y z" }),
    ]
    assert.deepEqual(
      await store.appendJournal(given),
      given.map(() => DONE),
    )

    const stored = new Map((await entries(store)).map(({ at: _, ...entry }) => [entry.id, entry]))
    for (const entry of given) assert.deepEqual(stored.get(entry.id), entry)
  }),
  lawCase("A schedule's journal entry is stored only if the schedule is written", async (store) => {
    const schedule = aSchedule()
    const { version } = await created(store, schedule)
    const [put, stale] = [anEntry({ id: "put" }), anEntry({ id: "stale" })]

    assert.equal((await store.putSchedule(schedule, version, put)).outcome, "done")
    assert.equal((await store.putSchedule(schedule, version, stale)).outcome, "stale")
    assert.equal((await store.putSchedule(schedule, null, stale)).outcome, "stale")
    assert.equal((await store.putSchedule(aSchedule(), null, anEntry({ id: "new" }))).outcome, "done")

    assert.deepEqual(sorted(idsOf(await entries(store))), ["new", "put"])
  }),
  lawCase("A plan's journal entry is stored only if the plan takes effect", async (store) => {
    const [a, b, c, d] = await Promise.all(
      ["a", "b", "c", "d"].map((id) => created(store, aSchedule({ id }))),
    )
    await enqueued(store, aRun({ liveKey: "held" }))
    const answers = await store.fire([
      aPlan(a!, { entry: anEntry({ id: "a" }), runs: [aRun()] }),
      aPlan({ ...b!, version: b!.version + 100 }, { entry: anEntry({ id: "b" }) }),
      aPlan(c!, { entry: anEntry({ id: "c" }), runs: [aRun({ liveKey: "held" })] }),
      aPlan(d!, { entry: anEntry({ id: "d" }), progress: null }),
      aPlan(a!, { entry: anEntry({ id: "a again" }) }),
    ])

    assert.deepEqual(
      answers.map(({ outcome }) => outcome),
      ["done", "stale", "held", "done", "stale"],
    )
    assert.deepEqual(sorted(idsOf(await entries(store))), ["a", "d"])
  }),
  lawCase("A document's journal entry is stored only if the document is written", async (store) => {
    const document = aDocument()
    const swap = await store.putDocument(document, null, anEntry({ id: "made" }))
    const { version } = swap as { version: number }
    await store.putDocument(document, null, anEntry({ id: "taken" }))
    await store.putDocument(document, version + 1, anEntry({ id: "stale" }))
    await store.putDocument({ ...document, value: null }, version, anEntry({ id: "deleted" }))

    assert.deepEqual(sorted(idsOf(await entries(store))), ["deleted", "made"])
  }),
]

export const ONE_CLOCK_JOURNAL = [
  lawCase("A journal entry is dated by the store's clock", async (store, lab) => {
    const before = await store.now()
    await store.appendJournal([anEntry()])
    await lab.pass(DISTINCT_MS)
    await store.putSchedule(aSchedule(), null, anEntry())
    const now = await store.now()

    const [first, second] = await entries(store)
    assert.ok(first!.at >= before && second!.at <= now, "between the call and now")
    assert.ok(first!.at < second!.at, "in the order in which they were appended")
  }),
]

export const REPEATABLE_JOURNAL = [
  lawCase("A journal entry that is sent twice is stored once, as it was sent first", async (store, lab) => {
    const entry = anEntry({ reason: "first" })
    await store.appendJournal([entry, entry])
    await lab.pass(DISTINCT_MS)
    const [first] = await entries(store)
    assert.deepEqual(await store.appendJournal([{ ...entry, reason: "second" }, anEntry()]), [DONE, DONE])

    const stored = await entries(store)
    assert.equal(stored.length, 2)
    assert.deepEqual(stored[0], first)
  }),
]

export const BOUNDED_JOURNAL = [
  lawCase("Journal entries are paged newest first or oldest first, each once", async (store, lab) => {
    // Three entries of one instant.
    await store.appendJournal(["b", "a", "c"].map((id) => anEntry({ id })))
    await lab.pass(DISTINCT_MS)
    await store.appendJournal([anEntry({ id: "0" })])
    await lab.pass(DISTINCT_MS)
    await store.appendJournal([anEntry({ id: "e" }), anEntry({ id: "d" })])

    const oldest = ["a", "b", "c", "0", "d", "e"]
    for (const limit of [1, 2, 4, 100]) {
      assert.deepEqual(await paged(store, {}, { order: "oldest", limit }), oldest)
      assert.deepEqual(await paged(store, {}, { order: "newest", limit }), oldest.toReversed())
    }
  }),
  lawCase("An entry must match all parts of a journal filter; an empty list matches none", async (store) => {
    await store.appendJournal([
      anEntry({ id: "1", subjectId: "a", by: "ann" }),
      anEntry({ id: "2", subjectId: "a", action: "resumed", by: "bob" }),
      anEntry({ id: "3", subjectId: "b", by: "ann" }),
      anEntry({ id: "4", subject: "calendar", subjectId: "a", action: "updated" }),
    ])
    const expected: readonly [JournalFilter, readonly string[]][] = [
      [{}, ["1", "2", "3", "4"]],
      [{ subject: "schedule" }, ["1", "2", "3"]],
      [{ subject: "schedule", subjectId: "a" }, ["1", "2"]],
      [{ subjectId: "a" }, ["1", "2", "4"]],
      [{ subject: "calendar", subjectId: "b" }, []],
      [{ by: "ann" }, ["1", "3"]],
      [{ by: "Ann" }, []],
      [{ by: "ann", subject: "schedule", subjectId: "a" }, ["1"]],
      [{ actions: ["resumed", "updated"] }, ["2", "4"]],
      [{ actions: ["paused"], subject: "schedule", subjectId: "a" }, ["1"]],
      [{ actions: [] }, []],
      [{ subject: "Schedule" }, []],
    ]
    for (const [filter, ids] of expected) {
      const text = JSON.stringify(filter)
      assert.deepEqual(sorted(idsOf(await entries(store, filter))), ids, text)
      assert.deepEqual(sorted(await paged(store, filter, { order: "newest", limit: 1 })), ids, text)
    }
  }),
  lawCase("A page of journal entries includes its `from` and excludes its `until`", async (store, lab) => {
    const instants: number[] = []
    for (const id of ["a", "b", "c"]) {
      await store.appendJournal([anEntry({ id })])
      instants.push((await entries(store)).at(-1)!.at)
      await lab.pass(DISTINCT_MS)
    }
    const [a, b, c] = instants as [number, number, number]
    for (const order of ["oldest", "newest"] as const) {
      const within = async (bounds: { from?: number; until?: number }) =>
        sorted(await paged(store, {}, { ...bounds, order, limit: 1 }))
      assert.deepEqual(await within({ from: b }), ["b", "c"])
      assert.deepEqual(await within({ until: b }), ["a"])
      assert.deepEqual(await within({ from: b, until: c }), ["b"])
      assert.deepEqual(await within({ from: a + 1, until: b }), [])
    }
  }),
  lawCase("Old journal entries are pruned, oldest first, at most `limit` per call", async (store, lab) => {
    for (const id of ["a", "b", "c"]) {
      await store.appendJournal([anEntry({ id, subjectId: id })])
      await lab.pass(DISTINCT_MS)
    }
    assert.deepEqual(await store.prune(aPruning({ journalOlderThanMs: LONG_MS })), pruned())
    assert.deepEqual(await store.prune(aPruning({ journalOlderThanMs: 1, limit: 2 })), pruned({ entries: 2 }))
    assert.deepEqual(idsOf(await entries(store)), ["c"])
    assert.deepEqual(await entries(store, { subject: "schedule", subjectId: "a" }), [])
    assert.deepEqual(await store.prune(aPruning({ journalOlderThanMs: 1 })), pruned({ entries: 1 }))
    assert.deepEqual(await entries(store), [])
    await store.appendJournal(several(3, () => anEntry()))
    assert.equal((await entries(store)).length, 3)
  }),
]
