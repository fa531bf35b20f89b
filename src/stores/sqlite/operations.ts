import type { Instant } from "../../core/instant.ts"
import type { NewJournalEntry } from "../../core/journal.ts"
import type { FirePlan } from "../../core/plan.ts"
import type { NewRun, RunChange } from "../../core/run.ts"
import { noRunCounts } from "../../core/run-states.ts"
import { noScheduleCounts } from "../../core/schedule-state.ts"
import type {
  AppendAnswer,
  Claimed,
  ClaimRequest,
  EnqueueAnswer,
  FireAnswer,
  Hint,
  LogLine,
  Pruned,
  PruneRequest,
  Store,
  TransitionAnswer,
} from "../../store/store.ts"
import { refused, refusedRun, sendIsolated } from "../kit/isolation.ts"
import { newReader } from "../kit/shares.ts"
import type { Prepared } from "./prepared.ts"
import { claimRuns, isAnythingDue, nextClaimableAt, readQueues } from "./statements/claiming.ts"
import { findDocuments, putDocument } from "./statements/documents.ts"
import { dueNothing, dueSchedules } from "./statements/due.ts"
import { enqueueRun } from "./statements/enqueuing.ts"
import { countRuns, findRuns, findWorkers, readRuns } from "./statements/finding.ts"
import { countSchedules, findSchedules } from "./statements/finding-schedules.ts"
import { firePlans } from "./statements/firing.ts"
import { beat } from "./statements/heartbeat.ts"
import { addHintCounts } from "./statements/hint-counts.ts"
import { addEntry, pruneJournal, readJournal } from "./statements/journal.ts"
import { appendLines, readLines } from "./statements/logs.ts"
import { FROM_THE_OLDEST, type Place, pruneRuns, pruneWorkers } from "./statements/pruning.ts"
import { putSchedule } from "./statements/schedules.ts"
import { pruneStatistics, summarise } from "./statements/statistics.ts"
import { changeRuns } from "./statements/transition.ts"

/** A piece of work on the file, all of one moment. */
type Work<T> = (connection: Prepared, now: Instant) => T

/** How work is done: each in a transaction of its own, or all in somebody's. */
export interface Ways {
  /** In [0, 1). */
  random(): number
  read<T>(work: Work<T>): Promise<T>
  write<T>(work: Work<T>): Promise<T>
  /** A write that needn't survive a power cut. */
  note<T>(work: Work<T>): Promise<T>
  /** What was written is told to those who listen in this process. Other processes are told by the file itself. */
  told(news: readonly Hint[]): void
}

export function operations(ways: Ways): Omit<Store, "open" | "close" | "listen"> {
  const { read, write } = ways
  const reader = newReader(ways.random())

  /** A write, and what it is worth telling: to other processes with the commit, to this one after it. */
  async function tell<T>(
    work: (connection: Prepared, now: Instant) => { answer: T; news: readonly Hint[] },
  ): Promise<T> {
    const { answer, news } = await write((connection, now) => {
      const done = work(connection, now)
      if (done.news.length > 0) addHintCounts(connection, done.news)
      return done
    })
    ways.told(news)
    return answer
  }

  const fire = (plans: readonly FirePlan[]): Promise<readonly FireAnswer[]> =>
    tell((connection, now) => {
      const { answers, news } = firePlans(connection, plans, now)
      return { answer: answers, news }
    })

  const enqueue = (runs: readonly NewRun[]): Promise<readonly EnqueueAnswer[]> =>
    tell((connection, now) => {
      const answer = runs.map((run) => enqueueRun(connection, run, now))
      return { answer, news: answer.some(({ outcome }) => outcome === "created") ? ["runs"] : [] }
    })

  const transition = (changes: readonly RunChange[]): Promise<readonly TransitionAnswer[]> =>
    tell((connection, now) => {
      const { answers, news } = changeRuns(connection, changes, now)
      return { answer: answers, news }
    })

  const append = (lines: readonly LogLine[]): Promise<readonly null[]> =>
    write((connection, now) => {
      appendLines(connection, lines, now)
      return []
    })

  const appendEntries = (entries: readonly NewJournalEntry[]): Promise<readonly AppendAnswer[]> =>
    write((connection, now) => {
      for (const entry of entries) addEntry(connection, entry, now)
      return entries.map(() => ({ outcome: "done" }))
    })

  return {
    now: () => read((_, now) => now),
    putSchedule: (schedule, ifVersion, entry) =>
      tell((connection, now) => {
        const answer = putSchedule(connection, schedule, { ifVersion, entry, now })
        return { answer, news: answer.outcome === "done" ? ["schedules"] : [] }
      }),
    async dueSchedules(request) {
      const nothing = await read((connection, now) => dueNothing(connection, request, { reader, now }))
      if (nothing !== null) return nothing
      return ways.note((connection, now) => dueSchedules(connection, request, { reader, now }))
    },
    fire: (plans) => sendIsolated(plans, fire, refused),

    enqueue: (runs) => sendIsolated(runs, enqueue, refusedRun),
    async claim(request) {
      const idle = await read((connection, now) => claimNothing(connection, request, now))
      return idle ?? write((connection, now) => claimRuns(connection, request, now))
    },
    heartbeat: (heartbeat) => write((connection, now) => beat(connection, heartbeat, now)),
    transition: (changes) => sendIsolated(changes, transition, refused),
    prune: (request) => prune(write, request),

    async appendLogs(lines) {
      await sendIsolated(lines, append, () => null)
    },
    readLogs: (page) => read((connection) => readLines(connection, page)),

    putDocument: (document, ifVersion, entry) =>
      tell((connection, now) => {
        const answer = putDocument(connection, document, { ifVersion, entry, now })
        return { answer, news: answer.outcome === "done" ? ["documents"] : [] }
      }),
    findDocuments: (filter, page) => read((connection) => findDocuments(connection, filter, page)),
    appendJournal: (entries) => sendIsolated(entries, appendEntries, refused),
    readJournal: (filter, page) => read((connection) => readJournal(connection, filter, page)),

    findSchedules: (filter, page) => read((connection, now) => findSchedules(connection, filter, page, now)),
    findRuns: (filter, page) => read((connection) => findRuns(connection, filter, page)),
    readRuns: (ids) => read((connection) => readRuns(connection, ids)),
    count: ({ runs, schedules, limit }) =>
      read((connection, now) => ({
        runs: runs === undefined ? noRunCounts() : countRuns(connection, runs, limit),
        schedules:
          schedules === undefined ? noScheduleCounts() : countSchedules(connection, schedules, limit, now),
      })),
    summarise: (request) => read((connection, now) => summarise(connection, request, now)),
    findWorkers: (page) => read((connection) => findWorkers(connection, page)),
  }
}

/** The answer where nothing is due, which needs no lock: idle workers are in nobody's way. Null if something is. */
function claimNothing(connection: Prepared, request: ClaimRequest, now: Instant): Claimed | null {
  const queues = readQueues(connection, request, now)
  if (isAnythingDue(queues, now)) return null
  return { now, runs: [], nextClaimableAt: nextClaimableAt(queues) }
}

/** A bite at a time: between two of them others write, and this process's event loop turns. */
async function prune(
  write: <T>(work: (connection: Prepared, now: Instant) => T) => Promise<T>,
  request: PruneRequest,
): Promise<Pruned> {
  const workers = await write((connection, now) => pruneWorkers(connection, request, now))
  const entries = await write((connection, now) => pruneJournal(connection, request, now))
  const buckets = await write((connection, now) => pruneStatistics(connection, request.limit, now))
  let runs = 0
  for (let place: Place | null = FROM_THE_OLDEST; place !== null && runs < request.limit; ) {
    const from: Place = place
    const bite = await write((connection, now) =>
      pruneRuns(connection, request, from, request.limit - runs, now),
    )
    runs += bite.runs
    place = bite.next
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { runs, workers, entries, buckets }
}
