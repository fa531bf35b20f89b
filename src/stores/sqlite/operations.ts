import type { FirePlan } from "../../core/planning/plan.ts"
import type { NewJournalEntry } from "../../core/records/journal.ts"
import type { NewRun, RunChange } from "../../core/run/run.ts"
import { noRunCounts } from "../../core/run/run-states.ts"
import type { Instant } from "../../core/time/instant.ts"
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
import { NO_SCHEDULES_COUNTED } from "../kit/counts.ts"
import { hintsOfEnqueue, hintsOfFire, hintsOfSwap, hintsOfTransition } from "../kit/hints-of-writes.ts"
import { sendIsolated, unstorable, unstorableRun } from "../kit/isolation.ts"
import { newReader } from "../kit/shares.ts"
import type { Prepared } from "./prepared.ts"
import { claimRuns, isAnythingDue, nextClaimableAt, readQueues } from "./statements/claiming.ts"
import { findDocuments, putDocument } from "./statements/documents.ts"
import { dueSchedules, dueWithoutLock } from "./statements/due.ts"
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

/** Work inside one transaction, at one instant. */
type Work<T> = (connection: Prepared, now: Instant) => T

/** How the operations use the connection: each in a transaction of its own, or all inside a user's transaction. */
export interface ConnectionAccess {
  /** In [0, 1). */
  random(): number
  read<T>(work: Work<T>): Promise<T>
  write<T>(work: Work<T>): Promise<T>
  /** A write that needn't survive a power cut, so it doesn't wait for the disk. */
  writeUnsynced<T>(work: Work<T>): Promise<T>
  /** Sends hints to the listeners of this process. Other processes read them from the file. */
  sendHints(hints: readonly Hint[]): void
}

export function operations(access: ConnectionAccess): Omit<Store, "open" | "close" | "listen"> {
  const { read, write } = access
  const reader = newReader(access.random())

  /** A write with hints: other processes get them with the commit, this process after it. */
  async function writeWithHints<T>(
    work: (connection: Prepared, now: Instant) => { answer: T; hints: readonly Hint[] },
  ): Promise<T> {
    const { answer, hints } = await write((connection, now) => {
      const done = work(connection, now)
      if (done.hints.length > 0) addHintCounts(connection, done.hints)
      return done
    })
    access.sendHints(hints)
    return answer
  }

  const fire = (plans: readonly FirePlan[]): Promise<readonly FireAnswer[]> =>
    writeWithHints((connection, now) => {
      const { answers, isSooner } = firePlans(connection, plans, now)
      return { answer: answers, hints: hintsOfFire(plans, answers, isSooner) }
    })

  const enqueue = (runs: readonly NewRun[]): Promise<readonly EnqueueAnswer[]> =>
    writeWithHints((connection, now) => {
      const answer = runs.map((run) => enqueueRun(connection, run, now))
      return { answer, hints: hintsOfEnqueue(runs, answer) }
    })

  const transition = (changes: readonly RunChange[]): Promise<readonly TransitionAnswer[]> =>
    writeWithHints((connection, now) => {
      const { answers, mayFreeRuns } = changeRuns(connection, changes, now)
      return { answer: answers, hints: hintsOfTransition(changes, answers, mayFreeRuns) }
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
      writeWithHints((connection, now) => {
        const answer = putSchedule(connection, schedule, { ifVersion, entry, now })
        return { answer, hints: hintsOfSwap(answer, "schedules") }
      }),
    async dueSchedules(request) {
      const idle = await read((connection, now) => dueWithoutLock(connection, request, { reader, now }))
      if (idle !== null) return idle
      return access.writeUnsynced((connection, now) => dueSchedules(connection, request, { reader, now }))
    },
    fire: (plans) => sendIsolated(plans, fire, unstorable),

    enqueue: (runs) => sendIsolated(runs, enqueue, unstorableRun),
    async claim(request) {
      const idle = await read((connection, now) => claimWithoutLock(connection, request, now))
      return idle ?? write((connection, now) => claimRuns(connection, request, now))
    },
    heartbeat: (heartbeat) => write((connection, now) => beat(connection, heartbeat, now)),
    transition: (changes) => sendIsolated(changes, transition, unstorable),
    prune: (request) => prune(write, request),

    async appendLogs(lines) {
      await sendIsolated(lines, append, () => null)
    },
    readLogs: (page) => read((connection) => readLines(connection, page)),

    putDocument: (document, ifVersion, entry) =>
      writeWithHints((connection, now) => {
        const answer = putDocument(connection, document, { ifVersion, entry, now })
        return { answer, hints: hintsOfSwap(answer, "documents") }
      }),
    findDocuments: (filter, page) => read((connection) => findDocuments(connection, filter, page)),
    appendJournal: (entries) => sendIsolated(entries, appendEntries, unstorable),
    readJournal: (filter, page) => read((connection) => readJournal(connection, filter, page)),

    findSchedules: (filter, page) => read((connection, now) => findSchedules(connection, filter, page, now)),
    findRuns: (filter, page) => read((connection) => findRuns(connection, filter, page)),
    readRuns: (ids) => read((connection) => readRuns(connection, ids)),
    count: ({ runs, schedules, limit }) =>
      read((connection, now) => ({
        runs: runs === undefined ? noRunCounts() : countRuns(connection, runs, limit),
        ...(schedules === undefined
          ? NO_SCHEDULES_COUNTED
          : countSchedules(connection, schedules, limit, now)),
      })),
    summarise: (request) => read((connection, now) => summarise(connection, request, now)),
    findWorkers: (page) => read((connection) => findWorkers(connection, page)),
  }
}

/** The answer if nothing is due. It needs no lock, so idle workers delay no other process. Null: something is due. */
function claimWithoutLock(connection: Prepared, request: ClaimRequest, now: Instant): Claimed | null {
  const queues = readQueues(connection, request, now)
  if (isAnythingDue(queues, now)) return null
  return { now, runs: [], nextClaimableAt: nextClaimableAt(queues) }
}

/** In small batches: between two of them other processes can write, and this process's event loop runs. */
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
    const batch = await write((connection, now) =>
      pruneRuns(connection, request, from, request.limit - runs, now),
    )
    runs += batch.runs
    place = batch.next
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { runs, workers, entries, buckets }
}
