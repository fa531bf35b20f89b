import type { JournalEntry, NewJournalEntry, Store } from "belfry/store"
import { broken } from "./breaking.ts"

async function allEntries(store: Store): Promise<readonly JournalEntry[]> {
  return store.readJournal({}, { order: "oldest", after: null, limit: 10_000 })
}

function shown(change: (entry: JournalEntry) => JournalEntry): (store: Store) => Partial<Store> {
  return (store) => ({ readJournal: async (...given) => (await store.readJournal(...given)).map(change) })
}

/** Writes entries separately, even if their schedule, document or plan is stale. */
function separately(
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

const withoutEntry = (name: string, change: (store: Store) => Partial<Store>) =>
  broken(1, `the journal entry of ${name} isn't stored`, change)

export const BROKEN_JOURNAL = [
  broken(
    1,
    "the journal doesn't store values",
    shown((entry) => ({ ...entry, before: null, after: null })),
  ),
  broken(
    1,
    "empty texts in the journal are stored as null",
    shown((entry) => ({
      ...entry,
      by: entry.by === "" ? null : entry.by,
      reason: entry.reason === "" ? null : entry.reason,
    })),
  ),
  broken(
    1,
    "the journal cuts `subjectId` at its first colon",
    shown((entry) => ({
      ...entry,
      subjectId: entry.subjectId.split(":")[0]!,
    })),
  ),
  broken(1, "the journal entry of a stale schedule is stored", separately(["putSchedule"])),
  broken(1, "the journal entry of a stale document is stored", separately(["putDocument"])),
  broken(1, "the journal entry of a stale or held plan is stored", separately(["fire"])),
  withoutEntry("a schedule", (store) => ({
    putSchedule: (schedule, ifVersion) => store.putSchedule(schedule, ifVersion),
  })),
  withoutEntry("a new schedule", (store) => ({
    putSchedule: (schedule, ifVersion, entry) =>
      store.putSchedule(schedule, ifVersion, ifVersion === null ? undefined : entry),
  })),
  withoutEntry("a deleted document", (store) => ({
    putDocument: (document, ifVersion, entry) =>
      store.putDocument(document, ifVersion, document.value === null ? undefined : entry),
  })),
  withoutEntry("a plan that deletes its schedule", (store) => ({
    fire: (plans) =>
      store.fire(
        plans.map(({ entry, ...plan }) =>
          plan.progress === null ? plan : { ...plan, ...(entry && { entry }) },
        ),
      ),
  })),
  broken(1, "only the first plan of a call stores its journal entry", (store) => ({
    fire: (plans) =>
      store.fire(
        plans.map(({ entry, ...plan }, index) => (index > 0 ? plan : { ...plan, ...(entry && { entry }) })),
      ),
  })),
  broken(2, "journal entries are dated when they are read", (store) => ({
    async readJournal(...given) {
      const now = await store.now()
      return (await store.readJournal(...given)).map((entry) => ({ ...entry, at: now }))
    },
  })),
  broken(8, "a journal entry that is sent twice is stored twice", (store) => {
    let sent = 0
    return {
      appendJournal: (entries) =>
        store.appendJournal(entries.map((entry) => ({ ...entry, id: `${entry.id} ${++sent}` }))),
    }
  }),
  broken(8, "a journal entry that is sent again is replaced", (store) => {
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
  broken(9, "readJournal has no limit", (store) => ({
    readJournal: (filter, page) => store.readJournal(filter, { ...page, limit: 10_000 }),
  })),
  broken(9, "readJournal is always newest first", (store) => ({
    readJournal: (filter, page) => store.readJournal(filter, { ...page, order: "newest" }),
  })),
  broken(9, "a page of the journal skips entries of the cursor's instant", (store) => ({
    async readJournal(filter, { after, ...page }) {
      const all = await store.readJournal(filter, { ...page, after: null, limit: 10_000 })
      const isBehind = ({ at }: JournalEntry) =>
        after === null || (page.order === "oldest" ? at > after.at : at < after.at)
      return all.filter(isBehind).slice(0, page.limit)
    },
  })),
  broken(9, "journal entries of one instant are in the order of arrival", (store) => {
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
  broken(9, "an empty list of actions matches all entries", (store) => ({
    readJournal: ({ actions, ...filter }, page) =>
      store.readJournal(
        actions === undefined || actions.length === 0 ? filter : { ...filter, actions },
        page,
      ),
  })),
  broken(9, "a page of the journal includes its `until`", (store) => ({
    readJournal: (filter, { until, ...page }) =>
      store.readJournal(filter, until === undefined ? page : { ...page, until: until + 1 }),
  })),
  broken(9, "a page of the journal excludes its `from`", (store) => ({
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
  broken(9, "the newest journal entries are pruned first", (store) => {
    const gone = new Set<string>()
    return {
      async prune(request) {
        const oldest = (await store.now()) - request.journalOlderThanMs
        const old = (await allEntries(store)).filter(({ id, at }) => at < oldest && !gone.has(id))
        const prunable = old.toReversed().slice(0, request.limit)
        for (const { id } of prunable) gone.add(id)
        return { ...(await store.prune({ ...request, journalOlderThanMs: 1e12 })), entries: prunable.length }
      },
      async readJournal(...given) {
        return (await store.readJournal(...given)).filter(({ id }) => !gone.has(id))
      },
    }
  }),
]
