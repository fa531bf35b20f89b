import type { Run, RunFilter, ScheduleFilter, Store, StoredLogLine } from "belfry/store"
import { release } from "../../../src/core/run.ts"
import { allRuns, broken, findRun } from "./breaking.ts"

const limits = [
  broken(9, "dueSchedules has no limit", (store) => ({
    dueSchedules: () => store.dueSchedules({ limit: 1_000 }),
  })),
  broken(9, "dueSchedules returns one schedule only, for ever the same", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      return { ...answer, due: answer.due.filter(({ schedule }) => schedule.id === "s0") }
    },
  })),
  broken(9, "claim has no limit", (store) => ({
    claim: (request) => store.claim({ ...request, limit: 1_000 }),
  })),
  broken(9, "claim gives one run more", (store) => ({
    claim: (request) => store.claim({ ...request, limit: request.limit + 1 }),
  })),
  broken(9, "claim gives one run at a time", (store) => ({
    claim: (request) => store.claim({ ...request, limit: Math.min(1, request.limit) }),
  })),
  broken(9, "claim returns its runs in another order", (store) => ({
    async claim(request) {
      const answer = await store.claim(request)
      return { ...answer, runs: [...answer.runs].reverse() }
    },
  })),
  broken(9, "low priorities go first", (store) => negated(store)),
  broken(9, "the longest stored goes first, not the longest due", (store) => {
    const stored: string[] = []
    return {
      enqueue(runs) {
        stored.push(...runs.map((run) => run.id))
        return store.enqueue(runs)
      },
      async claim(request) {
        const answer = await store.claim({ ...request, limit: 1_000 })
        const place = (run: Run) => stored.indexOf(run.id)
        const runs = [...answer.runs].sort((a, b) => b.priority - a.priority || place(a) - place(b))
        await store.transition(runs.slice(request.limit).map((run) => release(run, "")))
        return { ...answer, runs: runs.slice(0, request.limit) }
      },
    }
  }),
  broken(9, "readLogs has no limit", (store) => ({
    readLogs: (request) => store.readLogs({ ...request, limit: 1_000 }),
  })),
  broken(9, "readLogs includes the line it should come after", (store) => ({
    readLogs: (request) => store.readLogs({ ...request, afterNumber: Math.max(0, request.afterNumber - 1) }),
  })),
  broken(9, "findWorkers has no limit", (store) => ({
    findWorkers: () => store.findWorkers({ limit: 1_000 }),
  })),
  broken(9, "prune has no limit", (store) => ({
    prune: (request) => store.prune({ ...request, limit: 1_000 }),
  })),
  broken(9, "prune has no limit for workers", (store) => ({
    async prune(request) {
      const { workers } = await store.prune({
        ...request,
        olderThanMs: Number.MAX_SAFE_INTEGER,
        limit: 1_000,
      })
      const { runs } = await store.prune(request)
      return { runs, workers }
    },
  })),
  broken(9, "prune keeps the newest of all schedules together", (store) => keepingTogether(store)),
  broken(9, "prune keeps nothing", (store) => ({
    prune: (request) => store.prune({ ...request, keepPerSchedule: 0 }),
  })),
  broken(9, "runs of no schedule are kept for ever", (store) => {
    const loose = new Set<string>()
    return {
      async prune(request) {
        for (const run of await allRuns(store)) if (run.scheduleId === null) loose.add(run.id)
        return request.keepPerSchedule > 0 ? { runs: 0, workers: 0 } : store.prune(request)
      },
    }
  }),
  broken(9, "those that are kept use up prune's limit", (store) => ({
    async prune(request) {
      const kept = new Set((await allRuns(store)).map((run) => run.scheduleId)).size - 1
      return store.prune({
        ...request,
        limit: request.limit - Math.min(request.limit, request.keepPerSchedule * kept),
      })
    },
  })),
  broken(9, "the log of a pruned run stays", (store) => {
    const logs = new Map<string, readonly StoredLogLine[]>()
    return {
      async readLogs(request) {
        return (await findRun(store, request.runId))
          ? store.readLogs(request)
          : (logs.get(request.runId) ?? [])
      },
      async appendLogs(lines) {
        await store.appendLogs(lines)
        for (const { runId } of lines)
          logs.set(runId, await store.readLogs({ runId, afterNumber: 0, limit: 100 }))
      },
    }
  }),
]

/** Stored with the opposite priority, shown with its own. */
function negated(store: Store): Partial<Store> {
  const shown = (run: Run) => ({ ...run, priority: -run.priority + 0 })
  return {
    enqueue: (runs) => store.enqueue(runs.map((run) => ({ ...run, priority: -run.priority + 0 }))),
    findRuns: async (filter, page) => (await store.findRuns(filter, page)).map(shown),
    async claim(request) {
      const answer = await store.claim(request)
      return { ...answer, runs: answer.runs.map(shown) }
    },
  }
}

function keepingTogether(store: Store): Partial<Store> {
  const gone = new Set<string>()
  return {
    async prune(request) {
      const doomed = (await allRuns(store))
        .filter((run) => run.scheduleId !== null)
        .slice(request.keepPerSchedule)
      for (const run of doomed) gone.add(run.id)
      return { runs: doomed.length, workers: 0 }
    },
    findRuns: async (filter, page) => (await store.findRuns(filter, page)).filter((run) => !gone.has(run.id)),
  }
}

const pages = [
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

export const BROKEN_BOUNDED = [...limits, ...pages, ...filters]
