import type { RunFilter, ScheduleFilter } from "belfry/store"
import { type RunSummary, SUMMARY_TEXT_MAX } from "../../../src/core/run/run-summary.ts"
import { allRuns, broken, folded, roundTrip } from "./breaking.ts"

const summaries = [
  broken(1, "a list doesn't cut a long error", (store) => ({
    findRuns: async (filter, page) =>
      Promise.all(
        (await store.findRuns(filter, page)).map(async (run) => ({
          ...run,
          error: (await store.readRuns([run.id]))[0]!.error,
        })),
      ),
  })),
  broken(1, "a list cuts a message in the middle of a character", (store) => ({
    findRuns: async (filter, page) =>
      (await store.findRuns(filter, page)).map((run) => ({
        ...run,
        message: run.message?.slice(0, SUMMARY_TEXT_MAX) ?? null,
      })),
  })),
  broken(1, "a list has whole runs", (store) => ({
    findRuns: async (filter, page) => {
      const ids = (await store.findRuns(filter, page)).map(({ id }) => id)
      const runs = await store.readRuns(ids)
      return ids.map((id) => runs.find((run) => run.id === id)!)
    },
  })),
  broken(1, "a list leaves out `parentId`", (store) => ({
    findRuns: async (filter, page) =>
      (await store.findRuns(filter, page)).map((run) => ({ ...run, parentId: null })),
  })),
  broken(1, "a run whose id is given twice is returned twice", (store) => ({
    readRuns: async (ids) => (await Promise.all(ids.map((id) => store.readRuns([id])))).flat(),
  })),
  broken(1, "an id that isn't stored makes readRuns return nothing", (store) => ({
    readRuns: async (ids) => {
      const runs = await store.readRuns(ids)
      return runs.length < new Set(ids).size ? [] : runs
    },
  })),
  broken(9, "readRuns returns every run", (store) => ({
    readRuns: async () => store.readRuns((await allRuns(store)).map(({ id }) => id)),
  })),
]

const bounds = [
  broken(9, "a page excludes its `from`", (store) => ({
    findRuns: (filter, { from, ...page }) =>
      store.findRuns(filter, from === undefined ? page : { ...page, from: from + 1 }),
  })),
  broken(9, "a page ignores its `from`", (store) => ({
    findRuns: (filter, { from: _, ...page }) => store.findRuns(filter, page),
  })),
  broken(9, "a page includes its `until`", (store) => ({
    findRuns: (filter, { until, ...page }) =>
      store.findRuns(filter, until === undefined ? page : { ...page, until: until + 1 }),
  })),
  broken(9, "a page ignores its `until`", (store) => ({
    findRuns: (filter, { until: _, ...page }) => store.findRuns(filter, page),
  })),
  broken(9, "the bounds of a page always apply to `createdAt`", (store) => ({
    async findRuns(filter, { from, until, ...page }) {
      const runs = await store.findRuns(filter, page)
      return runs.filter(({ createdAt }) => createdAt >= (from ?? 0) && createdAt < (until ?? Infinity))
    },
  })),
  broken(9, "runs ordered by id come newest first", (store) => ({
    findRuns: (filter, page) =>
      store.findRuns(filter, page.orderBy === "id" ? { ...page, orderBy: "createdAt" } : page),
  })),
  broken(9, "runs are ordered by id without case", (store) => ({
    async findRuns(filter, page) {
      if (page.orderBy !== "id") return store.findRuns(filter, page)
      const all = await store.findRuns(filter, { ...page, after: null, limit: 1_000 })
      const key = (id: string) => `${id.toLowerCase()} ${id}`
      const sorted = all.toSorted((a, b) => (key(a.id) < key(b.id) ? -1 : 1))
      return sorted
        .filter(({ id }) => page.after === null || key(id) > key(page.after.id))
        .slice(0, page.limit)
    },
  })),
  broken(9, "skips are not found by `scheduledFor`", (store) => ({
    async findRuns(filter, page) {
      if (page.from === undefined) return store.findRuns(filter, page)
      const all = await store.findRuns(filter, { ...page, limit: 1_000 })
      return all.filter(({ state }) => state !== "skipped").slice(0, page.limit)
    },
  })),
  broken(9, "running runs are not found by `scheduledFor`", (store) => ({
    async findRuns(filter, page) {
      if (page.from === undefined) return store.findRuns(filter, page)
      return (await store.findRuns(filter, page)).filter(({ state }) => state !== "running")
    },
  })),
  broken(9, "a list leaves out `missed`", (store) => ({
    findRuns: async (filter, page) =>
      (await store.findRuns(filter, page)).map((run) => ({ ...run, missed: null })),
  })),
]

const pages = [
  broken(9, "schedules are ordered without case", (store) => ({
    async findSchedules(filter, { after, limit }) {
      const low = (text: string) => text.toLowerCase()
      // Case decides only between ids that are otherwise equal.
      const key = (id: string) => `${low(id)} ${id}`
      const all = await store.findSchedules(filter, { orderBy: "id", after: null, limit: 1_000 })
      const ordered = [...all].sort((a, b) => (key(a.id) < key(b.id) ? -1 : 1))
      return ordered.filter(({ id }) => after === null || key(id) > key(after.id)).slice(0, limit)
    },
  })),
  broken(9, "runs of one instant are ordered by id, ascending", (store) => ({
    async findRuns(filter, page) {
      const { orderBy, after, limit } = page
      if (orderBy === "id") return store.findRuns(filter, page)
      const all = await store.findRuns(filter, { ...page, after: null, limit: 1_000 })
      const order = (a: RunSummary, b: RunSummary) => b[orderBy]! - a[orderBy]! || (a.id < b.id ? -1 : 1)
      const isLater = (run: RunSummary) =>
        after === null || run[orderBy]! < after.at! || (run[orderBy] === after.at && run.id > after.id)
      return [...all].sort(order).filter(isLater).slice(0, limit)
    },
  })),
  broken(9, "findSchedules has no limit", (store) => ({
    findSchedules: (filter, page) => store.findSchedules(filter, { ...page, limit: 1_000 }),
  })),
  broken(9, "findSchedules returns the last id again", (store) => ({
    async findSchedules(filter, page) {
      const all = await store.findSchedules(filter, { orderBy: "id", after: null, limit: 1_000 })
      return all.filter(({ id }) => page.after === null || id >= page.after.id).slice(0, page.limit)
    },
  })),
  broken(9, "schedules are sorted without case and paged with it", (store) => ({
    async findSchedules(filter, page) {
      const all = await store.findSchedules(filter, { orderBy: "id", after: null, limit: 1_000 })
      const folded = [...all].sort((a, b) => (a.id.toLowerCase() < b.id.toLowerCase() ? -1 : 1))
      return folded.filter(({ id }) => page.after === null || id > page.after.id).slice(0, page.limit)
    },
  })),
  broken(9, "findRuns has no limit", (store) => ({
    findRuns: (filter, page) => store.findRuns(filter, { ...page, limit: 1_000 }),
  })),
  broken(9, "paging by the instant alone loses runs of the same instant", (store) => ({
    findRuns: (filter, page) =>
      store.findRuns(filter, { ...page, after: page.after && { ...page.after, id: "" } }),
  })),
  broken(9, "paging by the instant alone repeats runs of the same instant", (store) => ({
    findRuns: (filter, page) =>
      store.findRuns(filter, { ...page, after: page.after && { ...page.after, id: "\uffff" } }),
  })),
  broken(9, "runs are ordered oldest first", (store) => ({
    findRuns: async (filter, page) => [...(await store.findRuns(filter, page))].reverse(),
  })),
  broken(9, "runs are always ordered by their creation", (store) => ({
    findRuns: (filter, page) => store.findRuns(filter, { ...page, orderBy: "createdAt" }),
  })),
  broken(9, "runs without the instant come last", (store) => ({
    async findRuns(filter, page) {
      const runs = await store.findRuns(filter, page)
      const { orderBy } = page
      if (page.after !== null || orderBy === "createdAt" || orderBy === "id") return runs
      const all = await store.findRuns(filter, { ...page, orderBy: "createdAt" })
      return [...runs, ...all.filter((run) => run[orderBy] === null)].slice(0, page.limit)
    },
  })),
]

const RUN_FILTERS = [
  ...(["scheduleId", "task", "states", "triggeredBy", "concurrencyKey"] as const),
  ...(["idPrefix", "parentId", "workerId"] as const),
]

const filters = [
  broken(9, "an empty list in a run filter is no filter", (store) => ({
    findRuns: (filter, page) => store.findRuns(withoutEmpty(filter), page),
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
      const isLike = (wanted: string | undefined, existing: string | null) =>
        wanted === undefined || (existing !== null && folded(existing) === folded(wanted))
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
  ...(["task", "scheduleId", "concurrencyKey", "parentId"] as const).map((part) =>
    broken(9, `${part} is compared without case, accents and trailing spaces`, (store) => ({
      async findRuns(filter, page) {
        const { [part]: wanted, ...rest } = filter
        const all = await store.findRuns(rest, { ...page, limit: 1_000 })
        const isLike = (existing: string | null) =>
          wanted === undefined || (existing !== null && folded(existing) === folded(wanted))
        return all.filter((run) => isLike(run[part])).slice(0, page.limit)
      },
    })),
  ),
  broken(9, "a page is limited to the number of runs that were counted before it was read", (store) => ({
    async findRuns(filter, page) {
      const { runs: counts } = await store.count({ runs: filter, limit: 1_000 })
      await roundTrip()
      const limit = Math.min(page.limit, counts.pending + counts.running)
      const isCounted = filter.states?.every((state) => state === "pending" || state === "running") ?? false
      return store.findRuns(filter, isCounted ? { ...page, limit } : page)
    },
  })),
  broken(9, "a run's `idPrefix` is compared without case", (store) => ({
    async findRuns({ idPrefix, ...filter }, page) {
      const all = await store.findRuns(filter, { ...page, limit: 1_000 })
      const begins = (id: string) => id.toLowerCase().startsWith((idPrefix ?? "").toLowerCase())
      return all.filter(({ id }) => begins(id)).slice(0, page.limit)
    },
  })),
  broken(9, "a run's `idPrefix` may be anywhere in the id", (store) => ({
    async findRuns({ idPrefix, ...filter }, page) {
      const all = await store.findRuns(filter, { ...page, limit: 1_000 })
      return all.filter(({ id }) => id.includes(idPrefix ?? "")).slice(0, page.limit)
    },
  })),
  broken(9, "a filter by worker matches the runs that it held before", (store) => {
    const held = new Map<string, string>()
    return {
      async claim(request) {
        const claimed = await store.claim(request)
        for (const { id } of claimed.runs) held.set(id, request.workerId)
        return claimed
      },
      async findRuns({ workerId, ...filter }, page) {
        const all = await store.findRuns(filter, { ...page, limit: 1_000 })
        return all
          .filter(({ id }) => workerId === undefined || held.get(id) === workerId)
          .slice(0, page.limit)
      },
    }
  }),
  broken(9, "the owner is no filter", (store) => ({
    findSchedules: ({ owner: _, ...filter }, page) => store.findSchedules(filter, page),
  })),
  ...RUN_FILTERS.map((part) =>
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
]

function withoutEmpty<T extends object>(filter: T): T {
  const sent = Object.entries(filter).filter(([, value]) => !(Array.isArray(value) && value.length === 0))
  return Object.fromEntries(sent) as T
}

/** Pages with gaps and repeats, and filters that match too much or too little. */
export const BROKEN_PAGES = [...summaries, ...bounds, ...pages, ...filters]
