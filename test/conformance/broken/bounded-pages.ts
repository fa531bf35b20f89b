import type { Run, RunFilter, ScheduleFilter, Store } from "belfry/store"
import { broken, folded, roundTrip } from "./breaking.ts"

const occurrences = [
  broken(9, "occurrences come oldest first", (store) => ({
    findOccurrences: async (page) => (await store.findOccurrences(page)).toReversed(),
  })),
  broken(9, "findOccurrences has no limit", (store) => ({
    findOccurrences: (page) => store.findOccurrences({ ...page, limit: 1_000 }),
  })),
  broken(9, "occurrences of one instant are lost between pages", (store) => ({
    findOccurrences: ({ before, ...page }) =>
      store.findOccurrences({ ...page, before: before && { at: before.at, id: "" } }),
  })),
  broken(9, "what is settled is found again", (store) => ({
    findOccurrences: (page) => store.findOccurrences({ ...page, after: page.after - 1 }),
  })),
  broken(9, "occurrences that didn't run are not found", (store) => ({
    findOccurrences: async (page) =>
      (await store.findOccurrences({ ...page, limit: 1_000 }))
        .filter(({ state }) => state !== "skipped")
        .slice(0, page.limit),
  })),
  broken(9, "occurrences whose runs are unfinished are not found", (store) => ({
    findOccurrences: async (page) =>
      (await store.findOccurrences(page)).filter(({ state }) => state !== "running"),
  })),
  broken(9, "the range of an occurrence isn't told", (store) => ({
    findOccurrences: async (page) =>
      (await store.findOccurrences(page)).map((record) => ({ ...record, missed: null })),
  })),
  broken(9, "occurrences of all schedules are found", (store) => ({
    findOccurrences: async (page) => {
      const runs = await store.findRuns(
        {},
        { orderBy: "scheduledFor", before: page.before, limit: page.limit },
      )
      return runs
        .filter(({ scheduledFor }) => scheduledFor! > page.after)
        .map(({ id, state, missed, scheduledFor }) => ({ id, state, missed, scheduledFor: scheduledFor! }))
    },
  })),
]

const pages = [
  broken(9, "schedules are ordered without case", (store) => ({
    async findSchedules(filter, { afterId, limit }) {
      const low = (text: string) => text.toLowerCase()
      // The case of letters decides only among ids that differ in nothing else.
      const key = (id: string) => `${low(id)} ${id}`
      const all = await store.findSchedules(filter, { afterId: null, limit: 1_000 })
      const ordered = [...all].sort((a, b) => (key(a.id) < key(b.id) ? -1 : 1))
      return ordered.filter(({ id }) => afterId === null || key(id) > key(afterId)).slice(0, limit)
    },
  })),
  broken(9, "runs of one instant come by id ascending", (store) => ({
    async findRuns(filter, { orderBy, before, limit }) {
      const all = await store.findRuns(filter, { orderBy, before: null, limit: 1_000 })
      const order = (a: Run, b: Run) => b[orderBy]! - a[orderBy]! || (a.id < b.id ? -1 : 1)
      const isLater = (run: Run) =>
        before === null || run[orderBy]! < before.at || (run[orderBy] === before.at && run.id > before.id)
      return [...all].sort(order).filter(isLater).slice(0, limit)
    },
  })),
  broken(9, "findSchedules has no limit", (store) => ({
    findSchedules: (filter, page) => store.findSchedules(filter, { ...page, limit: 1_000 }),
  })),
  broken(9, "findSchedules returns the last id again", (store) => ({
    async findSchedules(filter, page) {
      const all = await store.findSchedules(filter, { afterId: null, limit: 1_000 })
      return all.filter(({ id }) => page.afterId === null || id >= page.afterId).slice(0, page.limit)
    },
  })),
  broken(9, "schedules are sorted without case and paged with it", (store) => ({
    async findSchedules(filter, page) {
      const all = await store.findSchedules(filter, { afterId: null, limit: 1_000 })
      const folded = [...all].sort((a, b) => (a.id.toLowerCase() < b.id.toLowerCase() ? -1 : 1))
      return folded.filter(({ id }) => page.afterId === null || id > page.afterId).slice(0, page.limit)
    },
  })),
  broken(9, "findRuns has no limit", (store) => ({
    findRuns: (filter, page) => store.findRuns(filter, { ...page, limit: 1_000 }),
  })),
  broken(9, "paging by the instant alone loses runs of the same instant", (store) => ({
    findRuns: (filter, page) =>
      store.findRuns(filter, { ...page, before: page.before && { ...page.before, id: "" } }),
  })),
  broken(9, "paging by the instant alone repeats runs of the same instant", (store) => ({
    findRuns: (filter, page) =>
      store.findRuns(filter, { ...page, before: page.before && { ...page.before, id: "\uffff" } }),
  })),
  broken(9, "runs come oldest first", (store) => ({
    findRuns: async (filter, page) => [...(await store.findRuns(filter, page))].reverse(),
  })),
  broken(9, "runs are always ordered by their creation", (store) => ({
    findRuns: (filter, page) => store.findRuns(filter, { ...page, orderBy: "createdAt" }),
  })),
  broken(9, "runs without the instant come last", (store) => ({
    async findRuns(filter, page) {
      const runs = await store.findRuns(filter, page)
      if (page.before !== null || page.orderBy === "createdAt") return runs
      const all = await store.findRuns(filter, { ...page, orderBy: "createdAt" })
      return [...runs, ...all.filter((run) => run[page.orderBy] === null)].slice(0, page.limit)
    },
  })),
]

const filters = [
  broken(9, "an empty list in a run filter is no filter", (store) => ({
    findRuns: (filter, page) => store.findRuns(withoutEmpty(filter), page),
    countRuns: (filter) => store.countRuns(withoutEmpty(filter)),
  })),
  broken(9, "an empty list in a schedule filter is no filter", (store) => ({
    findSchedules: (filter, page) => store.findSchedules(withoutEmpty(filter), page),
  })),
  broken(9, "a tag matches in part", (store) => ({
    async findSchedules({ tag, ...filter }: ScheduleFilter, page) {
      const all = await store.findSchedules(filter, { ...page, limit: 1_000 })
      return all.filter(({ tags }) => tag === undefined || tags.join(",").includes(tag)).slice(0, page.limit)
    },
  })),
  broken(9, "a filter for schedules is compared without case, accents and trailing spaces", (store) => ({
    async findSchedules({ owner, task, tag, ...filter }, page) {
      const isLike = (wanted: string | undefined, there: string | null) =>
        wanted === undefined || (there !== null && folded(there) === folded(wanted))
      const all = await store.findSchedules(filter, { ...page, limit: 1_000 })
      const found = all.filter(
        (schedule) =>
          isLike(owner, schedule.owner) &&
          isLike(task, schedule.task) &&
          (tag === undefined || schedule.tags.some((each) => isLike(tag, each))),
      )
      return found.slice(0, page.limit)
    },
  })),
  ...(["task", "scheduleId", "concurrencyKey"] as const).map((part) =>
    broken(9, `${part} is compared without case, accents and trailing spaces`, (store) => ({
      async findRuns(filter, page) {
        const { [part]: wanted, ...rest } = filter
        const all = await store.findRuns(rest, { ...page, limit: 1_000 })
        const isLike = (there: string | null) =>
          wanted === undefined || (there !== null && folded(there) === folded(wanted))
        return all.filter((run) => isLike(run[part])).slice(0, page.limit)
      },
    })),
  ),
  broken(9, "a page ends when it has as many runs as were counted a moment before", (store) => ({
    async findRuns(filter, page) {
      const counts = await store.countRuns(filter)
      await roundTrip()
      const limit = Math.min(page.limit, counts.pending + counts.running)
      const isCounted = filter.states?.every((state) => state === "pending" || state === "running") ?? false
      return store.findRuns(filter, isCounted ? { ...page, limit } : page)
    },
  })),
  broken(9, "the owner is no filter", (store) => ({
    findSchedules: ({ owner: _, ...filter }, page) => store.findSchedules(filter, page),
  })),
  ...(["scheduleId", "task", "states", "triggeredBy", "concurrencyKey"] as const).map((part) =>
    broken(9, `${part} is no filter for runs`, (store) => ({
      findRuns: (filter, page) => store.findRuns({ ...filter, [part]: undefined } as RunFilter, page),
    })),
  ),
  broken(9, "a filter is applied after the page is cut", (store) => ({
    async findRuns(filter, page) {
      const runs = await store.findRuns({}, page)
      const wanted = await store.findRuns(filter, { ...page, limit: 1_000 })
      return runs.filter((run) => wanted.some(({ id }) => id === run.id))
    },
  })),
  broken(9, "a count knows no filter", (store) => ({ countRuns: () => store.countRuns({}) })),
  broken(9, "a count leaves out states without runs", (store) => ({
    async countRuns(filter) {
      const counts = Object.entries(await store.countRuns(filter)).filter(([, count]) => count > 0)
      return Object.fromEntries(counts) as Awaited<ReturnType<Store["countRuns"]>>
    },
  })),
  broken(9, "skips are not counted", (store) => ({
    countRuns: async (filter) => ({ ...(await store.countRuns(filter)), skipped: 0 }),
  })),
]

function withoutEmpty<T extends object>(filter: T): T {
  const said = Object.entries(filter).filter(([, value]) => !(Array.isArray(value) && value.length === 0))
  return Object.fromEntries(said) as T
}

/** Pages with gaps and repeats, and filters that let through too much or too little. */
export const BROKEN_PAGES = [...occurrences, ...pages, ...filters]
