import { isFinished, type Run, type Store, type StoredLogLine } from "belfry/store"
import { release } from "../../../src/core/run/run.ts"
import { pruned } from "../../../src/store/laws/factories.ts"
import { BROKEN_PAGES } from "./bounded-pages.ts"
import { BROKEN_BOUNDED_SCHEDULES } from "./bounded-schedules.ts"
import { allRuns, allWorkers, broken, findRun, hiding, reading } from "./breaking.ts"
import { BROKEN_COUNTS } from "./counts.ts"
import { BROKEN_LOG_PAGES } from "./logs.ts"

const limits = [
  broken(9, "dueSchedules has no limit", (store) => ({
    dueSchedules: () => store.dueSchedules({ limit: 1_000 }),
  })),
  broken(9, "dueSchedules always returns the same single schedule", (store) => ({
    async dueSchedules(request) {
      const answer = await store.dueSchedules(request)
      return { ...answer, due: answer.due.filter(({ schedule }) => schedule.id === "s0") }
    },
  })),
  broken(9, "claim has no limit", (store) => ({
    claim: (request) => store.claim({ ...request, limit: 1_000 }),
  })),
  broken(9, "claim gives one run more than the limit", (store) => ({
    claim: (request) => store.claim({ ...request, limit: request.limit + 1 }),
  })),
  broken(9, "claim gives one run at a time", (store) => ({
    claim: (request) => store.claim({ ...request, limit: Math.min(1, request.limit) }),
  })),
  broken(9, "claim gives at most a hundred runs, and doesn't say that more are due", (store) => ({
    claim: (request) => store.claim({ ...request, limit: Math.min(100, request.limit) }),
  })),
  broken(9, "claim always says that more runs are due", (store) => ({
    async claim(request) {
      const answer = await store.claim(request)
      return { ...answer, nextClaimableAt: answer.now }
    },
  })),
  broken(9, "claim returns its runs in another order", (store) => ({
    async claim(request) {
      const answer = await store.claim(request)
      return { ...answer, runs: [...answer.runs].reverse() }
    },
  })),
  broken(9, "low priorities are given first", (store) => negated(store)),
  broken(9, "the run that was stored first is given first, not the longest due", (store) => {
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
  broken(9, "a released run goes to the end of its queue", (store) => ({
    transition: (changes) =>
      store.transition(
        changes.map((change) => ({
          ...change,
          claimableInMs: isFinished(change.state) ? null : (change.claimableInMs ?? 0),
        })),
      ),
  })),
  broken(9, "a run whose attempt failed keeps its place in the queue", (store) => ({
    transition: (changes) => store.transition(changes.map((change) => ({ ...change, claimableInMs: null }))),
  })),
  ...BROKEN_LOG_PAGES,
  broken(9, "findWorkers has no limit", (store) => ({
    findWorkers: (page) => store.findWorkers({ ...page, limit: 1_000 }),
  })),
  broken(9, "findWorkers starts again with every page", (store) => ({
    findWorkers: (page) => store.findWorkers({ ...page, afterId: null }),
  })),
  broken(9, "findWorkers returns the last id again", (store) => ({
    async findWorkers(page) {
      const all = await allWorkers(store)
      return all.filter(({ id }) => page.afterId === null || id >= page.afterId).slice(0, page.limit)
    },
  })),
  broken(9, "workers are ordered without case", (store) => ({
    async findWorkers({ afterId, limit }) {
      const low = (text: string) => text.toLowerCase()
      const all = [...(await allWorkers(store))].sort((a, b) => (low(a.id) < low(b.id) ? -1 : 1))
      return all.filter(({ id }) => afterId === null || low(id) > low(afterId)).slice(0, limit)
    },
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
      return pruned({ runs, workers })
    },
  })),
  broken(9, "prune has one limit for runs and workers together", (store) => ({
    async prune(request) {
      const { runs } = await store.prune({ ...request, silentForMs: Number.MAX_SAFE_INTEGER })
      const rest = { ...request, olderThanMs: Number.MAX_SAFE_INTEGER, limit: request.limit - runs }
      const { workers } = await store.prune(rest)
      return pruned({ runs, workers })
    },
  })),
  broken(9, "prune keeps the runs that were created last", (store) => keepingCreatedLast(store)),
  broken(9, "prune applies `keepPerSchedule` to all schedules together", (store) => keepingTogether(store)),
  broken(9, "prune ignores `keepPerSchedule`", (store) => ({
    prune: (request) => store.prune({ ...request, keepPerSchedule: 0 }),
  })),
  broken(9, "prune deletes runs of occurrences after `coveredUntil`", (store) => ({
    async prune(request) {
      const schedules = await store.findSchedules({}, { orderBy: "id", after: null, limit: 100 })
      for (const schedule of schedules)
        await store.putSchedule({ ...schedule, coveredUntil: null }, schedule.version)
      return store.prune(request)
    },
  })),
  broken(9, "prune keeps the runs of all occurrences", (store) => ({
    async prune(request) {
      const hasOccurrences = (await allRuns(store)).some((run) => (run.scheduledFor ?? 0) > 0)
      return hasOccurrences ? pruned() : store.prune(request)
    },
  })),
  broken(9, "runs without a schedule are never pruned", (store) => {
    const loose = new Set<string>()
    return {
      async prune(request) {
        for (const run of await allRuns(store)) if (run.scheduleId === null) loose.add(run.id)
        return request.keepPerSchedule > 0 ? pruned() : store.prune(request)
      },
    }
  }),
  broken(9, "runs that stay count towards prune's limit", (store) => ({
    async prune(request) {
      const kept = new Set((await allRuns(store)).map((run) => run.scheduleId)).size - 1
      return store.prune({
        ...request,
        limit: request.limit - Math.min(request.limit, request.keepPerSchedule * kept),
      })
    },
  })),
  broken(9, "the log of a pruned run stays for a later run with its id", (store) => {
    const logs = new Map<string, readonly StoredLogLine[]>()
    return {
      async readLogs(page) {
        const lines = await store.readLogs(page)
        return lines.length === 0 && (await findRun(store, page.runId)) ? (logs.get(page.runId) ?? []) : lines
      },
      async appendLogs(lines) {
        await store.appendLogs(lines)
        for (const { runId } of lines)
          logs.set(runId, await store.readLogs({ runId, after: null, limit: 100 }))
      },
    }
  }),
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
          logs.set(runId, await store.readLogs({ runId, after: null, limit: 100 }))
      },
    }
  }),
]

/** Runs are stored with the negated priority, and shown with their own. */
function negated(store: Store): Partial<Store> {
  return {
    enqueue: (runs) => store.enqueue(runs.map((run) => ({ ...run, priority: -run.priority + 0 }))),
    ...reading(store, (run) => ({ ...run, priority: -run.priority + 0 })),
  }
}

function keepingTogether(store: Store): Partial<Store> {
  const gone = new Set<string>()
  return {
    async prune(request) {
      const prunable = (await allRuns(store))
        .filter((run) => run.scheduleId !== null)
        .slice(request.keepPerSchedule)
      for (const run of prunable) gone.add(run.id)
      return pruned({ runs: prunable.length, workers: 0 })
    },
    ...hiding(store, gone),
  }
}

/** For one schedule only, which is enough for its case. */
function keepingCreatedLast(store: Store): Partial<Store> {
  const gone = new Set<string>()
  return {
    async prune(request) {
      if (request.keepPerSchedule === 0) return store.prune(request)
      const own = (await allRuns(store)).filter((run) => run.scheduleId === "s1" && run.completedAt !== null)
      for (const run of own.slice(request.keepPerSchedule)) gone.add(run.id)
      return pruned({ runs: gone.size, workers: 0 })
    },
    ...hiding(store, gone),
  }
}

export const BROKEN_BOUNDED = [...limits, ...BROKEN_PAGES, ...BROKEN_BOUNDED_SCHEDULES, ...BROKEN_COUNTS]
