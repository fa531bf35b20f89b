import type { JournalEntry, NewJournalEntry, Store } from "belfry/store"
import { broken } from "./breaking.ts"

async function allEntries(store: Store): Promise<readonly JournalEntry[]> {
  return store.readJournal({}, { order: "oldest", after: null, limit: 10_000 })
}

function shown(change: (entry: JournalEntry) => JournalEntry): (store: Store) => Partial<Store> {
  return (store) => ({ readJournal: async (...given) => (await store.readJournal(...given)).map(change) })
}

/** Writes entries by themselves, whatever became of what they came with. */
function beside(
  names: readonly ("putSchedule" | "putDocument" | "fire")[],
): (store: Store) => Partial<Store> {
  return (store) => {
    const keep = async (entry: NewJournalEntry | undefined) => {
      if (entry !== undefined) await store.appendJournal([entry])
    }
    const all: Pick<Store, "putSchedule" | "putDocument" | "fire"> = {
      async putSchedule(schedule, ifVersion, entry) {
        await keep(entry)
        return store.putSchedule(schedule, ifVersion)
      },
      async putDocument(document, ifVersion, entry) {
        await keep(entry)
        return store.putDocument(document, ifVersion)
      },
      async fire(plans) {
        for (const { entry } of plans) await keep(entry)
        return store.fire(plans.map(({ entry: _, ...plan }) => plan))
      },
    }
    return Object.fromEntries(names.map((name) => [name, all[name]]))
  }
}

const dropped = (name: string, change: (store: Store) => Partial<Store>) =>
  broken(1, `${name} leaves out its entry`, change)

export const BROKEN_JOURNAL = [
  broken(
    1,
    "the journal keeps no values",
    shown((entry) => ({ ...entry, before: null, after: null })),
  ),
  broken(
    1,
    "empty texts in the journal are none",
    shown((entry) => ({
      ...entry,
      by: entry.by === "" ? null : entry.by,
      reason: entry.reason === "" ? null : entry.reason,
    })),
  ),
  broken(
    1,
    "the journal keeps what it is about up to the first colon",
    shown((entry) => ({
      ...entry,
      subjectId: entry.subjectId.split(":")[0]!,
    })),
  ),
  broken(1, "an entry is kept though its schedule is stale", beside(["putSchedule"])),
  broken(1, "an entry is kept though its document is stale", beside(["putDocument"])),
  broken(1, "an entry is kept though its plan didn't happen", beside(["fire"])),
  dropped("a schedule", (store) => ({
    putSchedule: (schedule, ifVersion) => store.putSchedule(schedule, ifVersion),
  })),
  dropped("a new schedule", (store) => ({
    putSchedule: (schedule, ifVersion, entry) =>
      store.putSchedule(schedule, ifVersion, ifVersion === null ? undefined : entry),
  })),
  dropped("a document that is deleted", (store) => ({
    putDocument: (document, ifVersion, entry) =>
      store.putDocument(document, ifVersion, document.value === null ? undefined : entry),
  })),
  dropped("a plan that deletes its schedule", (store) => ({
    fire: (plans) =>
      store.fire(
        plans.map(({ entry, ...plan }) =>
          plan.progress === null ? plan : { ...plan, ...(entry && { entry }) },
        ),
      ),
  })),
  broken(1, "of several plans the first alone has its entry", (store) => ({
    fire: (plans) =>
      store.fire(
        plans.map(({ entry, ...plan }, index) => (index > 0 ? plan : { ...plan, ...(entry && { entry }) })),
      ),
  })),
  broken(2, "entries are dated when they are read", (store) => ({
    async readJournal(...given) {
      const now = await store.now()
      return (await store.readJournal(...given)).map((entry) => ({ ...entry, at: now }))
    },
  })),
  broken(8, "an entry that is sent twice is there twice", (store) => {
    let sent = 0
    return {
      appendJournal: (entries) =>
        store.appendJournal(entries.map((entry) => ({ ...entry, id: `${entry.id} ${++sent}` }))),
    }
  }),
  broken(8, "an entry that is sent again is replaced", (store) => {
    const newest = new Map<string, NewJournalEntry>()
    return {
      appendJournal(entries) {
        for (const entry of entries) newest.set(entry.id, entry)
        return store.appendJournal(entries)
      },
      async readJournal(...given) {
        return (await store.readJournal(...given)).map((entry) => ({ ...entry, ...newest.get(entry.id) }))
      },
    }
  }),
  broken(9, "the journal knows no limit", (store) => ({
    readJournal: (filter, page) => store.readJournal(filter, { ...page, limit: 10_000 }),
  })),
  broken(9, "the journal is always newest first", (store) => ({
    readJournal: (filter, page) => store.readJournal(filter, { ...page, order: "newest" }),
  })),
  broken(9, "a page of the journal leaves out what has the instant of the page before", (store) => ({
    async readJournal(filter, { after, ...page }) {
      const all = await store.readJournal(filter, { ...page, after: null, limit: 10_000 })
      const isBehind = ({ at }: JournalEntry) =>
        after === null || (page.order === "oldest" ? at > after.at : at < after.at)
      return all.filter(isBehind).slice(0, page.limit)
    },
  })),
  broken(9, "entries of one instant are in the order in which they came", (store) => {
    const order: string[] = []
    return {
      appendJournal(entries) {
        order.push(...entries.map(({ id }) => id))
        return store.appendJournal(entries)
      },
      async readJournal(filter, { after, ...page }) {
        const found = await store.readJournal(filter, { ...page, after: null, limit: 10_000 })
        const all = [...found].sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id))
        if (page.order === "newest") all.reverse()
        const from = after === null ? 0 : all.findIndex(({ id }) => id === after.id) + 1
        return all.slice(from, from + page.limit)
      },
    }
  }),
  ...(["subject", "subjectId", "actions", "by"] as const).map((part) =>
    broken(9, `${part} is no filter for the journal`, (store) => ({
      readJournal: ({ [part]: _, ...filter }, page) => store.readJournal(filter, page),
    })),
  ),
  broken(9, "a filter for the journal is applied after the page is cut", (store) => ({
    async readJournal(filter, page) {
      const wanted = new Set(
        (await store.readJournal(filter, { ...page, limit: 10_000 })).map(({ id }) => id),
      )
      return (await store.readJournal({}, page)).filter(({ id }) => wanted.has(id))
    },
  })),
  broken(9, "an empty list of actions is all of them", (store) => ({
    readJournal: ({ actions, ...filter }, page) =>
      store.readJournal(
        actions === undefined || actions.length === 0 ? filter : { ...filter, actions },
        page,
      ),
  })),
  broken(9, "a range of the journal ends with its end", (store) => ({
    readJournal: (filter, { until, ...page }) =>
      store.readJournal(filter, until === undefined ? page : { ...page, until: until + 1 }),
  })),
  broken(9, "a range of the journal begins after its beginning", (store) => ({
    readJournal: (filter, { from, ...page }) =>
      store.readJournal(filter, from === undefined ? page : { ...page, from: from + 1 }),
  })),
  broken(9, "the journal is pruned without a limit", (store) => ({
    async prune(request) {
      const { entries } = await store.prune({
        ...request,
        olderThanMs: 1e12,
        silentForMs: 1e12,
        limit: 10_000,
      })
      return { ...(await store.prune(request)), entries }
    },
  })),
  broken(9, "the journal is never pruned", (store) => ({
    prune: (request) => store.prune({ ...request, journalOlderThanMs: 1e12 }),
  })),
  broken(9, "the newest entries are pruned first", (store) => {
    const gone = new Set<string>()
    return {
      async prune(request) {
        const oldest = (await store.now()) - request.journalOlderThanMs
        const old = (await allEntries(store)).filter(({ id, at }) => at < oldest && !gone.has(id))
        const doomed = old.toReversed().slice(0, request.limit)
        for (const { id } of doomed) gone.add(id)
        return { ...(await store.prune({ ...request, journalOlderThanMs: 1e12 })), entries: doomed.length }
      },
      async readJournal(...given) {
        return (await store.readJournal(...given)).filter(({ id }) => !gone.has(id))
      },
    }
  }),
]
