import type { Document, NewDocument } from "../core/document.ts"
import type { Instant } from "../core/instant.ts"
import type { JournalEntry, NewJournalEntry } from "../core/journal.ts"
import type { FirePlan } from "../core/plan.ts"
import type { NewRun, Run, RunChange } from "../core/run.ts"
import type { RunSummary } from "../core/run-summary.ts"
import type { Schedule } from "../core/schedule.ts"
import type { StatisticsBucket } from "../core/statistics.ts"
import type {
  AppendAnswer,
  Claimed,
  ClaimRequest,
  CountRequest,
  Counts,
  DocumentFilter,
  DocumentPage,
  DueRequest,
  DueSchedules,
  EnqueueAnswer,
  FireAnswer,
  Heartbeat,
  HeartbeatAnswer,
  JournalFilter,
  JournalPage,
  LogLine,
  LogPage,
  Pruned,
  PruneRequest,
  RunFilter,
  RunPage,
  ScheduleFilter,
  SchedulePage,
  StoredLogLine,
  SummaryRequest,
  Swap,
  TransitionAnswer,
  Worker,
} from "./calls.ts"

export type * from "./calls.ts"

/**
 * THE CONTRACT. A store remembers, compares and swaps; it knows no policy and no state machine. Belfry promises its users
 * what these laws say, and nothing that they don't; `laws.ts` proves them for every store by one suite, without skips.
 *
 *  1. Whole       Each element of a call takes effect entirely or not at all.
 *  2. One clock   "Now" is the store's own clock, read inside the operation. Callers send durations.
 *  3. Fenced      A change names the version, or the state and attempt, it was decided on. If the record has moved,
 *                 nothing happens and the answer says so.
 *  4. Once        One occurrence of one schedule becomes exactly one run or one skip: the run's id is its identity.
 *  5. Alone       No (run, attempt) is ever given to two workers.
 *  6. Single      At most one unfinished run holds a given live key.
 *  7. Serial      A claim never returns a run whose concurrency key is already held by its limit of running runs.
 *  8. Repeatable  Sending a write twice has the effect of sending it once; callers make the ids.
 *  9. Bounded     Every call that returns records takes a limit.
 * 10. Quiet       Losing a race is an answer. An exception means unreachable or unfit, and comes by a deadline of the
 *                 store's own (seconds): no call is left hanging.
 * 11. Hints       `listen` may be late, repeated or silent: only speed depends on it.
 * 12. Apart       A record that can't be read or kept harms no other: the rest of a call goes on without it, and its fault is
 *                 shown on it.
 *
 * There are no optional operations and no capability flags. Ids, keys and names compare exactly: case, accents and
 * trailing spaces tell them apart. Ids order by their UTF-8 bytes; every id is ASCII by Belfry's own door.
 */
export interface Store {
  /** Brings the schema up to date, or explains why not. Opening twice is opening once; after `close` it is a fault. */
  open(): Promise<void>
  /** Ends connections and listeners. Closing twice is closing once; any other call afterwards is a fault. */
  close(): Promise<void>
  now(): Promise<Instant>
  /**
   * Calls back when something may have become due. Returns how to stop listening. A listener that throws harms neither
   * the write it follows nor other listeners.
   */
  listen(onHint: (hint: Hint) => void): Promise<() => Promise<void>>

  /**
   * Writes a whole schedule if its stored version is `ifVersion`; null: if there is none. The store sets the version,
   * which never repeats for an id, even after the schedule was deleted and made again, and what `ScheduleTally` names: it
   * counts a schedule's runs in the step that creates them, by `fire` or by `enqueue`, and keeps how they ended in the step that
   * ends them, by `transition`. Neither makes a new version. If it is written, so is the entry, as one atom.
   */
  putSchedule(schedule: Schedule, ifVersion: number | null, entry?: NewJournalEntry): Promise<Swap>
  /**
   * Schedules with `nextRunAt` at or before now, or up to `aheadMs` after it, each with the facts a plan needs (of its
   * unfinished runs at most the oldest `UNFINISHED_FACTS_MAX`), and when the next ones are due after these. Which of them
   * are returned is the store's choice, so that many processes needn't read the same rows: one that was just returned to
   * another caller may be left out for a moment, and then `nextDueAt` says when to ask again. One that can't be read is
   * returned as `unreadableSchedule` makes it.
   */
  dueSchedules(request: DueRequest): Promise<DueSchedules>
  /**
   * Applies each plan whose `ifVersion` still stands: the new progress, its runs and its entry, as one atom. Without progress the schedule
   * is deleted, and its runs stay. A run whose id exists
   * already is left as it is. If a pending run's live key is held by another run, or something in the plan can't be kept,
   * nothing of that plan happens.
   */
  fire(plans: readonly FirePlan[]): Promise<readonly FireAnswer[]>

  /**
   * Stores runs. One whose id exists, or whose live key is held, is not stored, and the answer names the one there. One that
   * can't be kept is refused.
   */
  enqueue(runs: readonly NewRun[]): Promise<readonly EnqueueAnswer[]>
  /**
   * Gives the worker up to `limit` due runs of its tasks, and returns them in this order: highest priority first, then
   * longest due. Each becomes running as its next attempt, with the task's lease and without progress; what `claimableAt`
   * was becomes its `dueAt`. A due run that was running is one whose worker fell silent. It is given like any other; until
   * then it still holds its concurrency key. If a heartbeat has confirmed the silent attempt it is recorded as `lost`, and
   * `lost` rises; otherwise it is recorded as `unconfirmed`. Runs that wait for their key don't keep others from being
   * given, however many they are. A run that can't be read is failed with its fault as the error, and not given.
   */
  claim(request: ClaimRequest): Promise<Claimed>
  /**
   * One call per worker: says it is alive, confirms the attempts it holds and extends their leases (also one that ended,
   * if nobody took the run since), stores progress, adds up what the process counted, and tells it what it no longer holds. What
   * can't be added fails nothing else, and is told by the answer.
   */
  heartbeat(beat: Heartbeat): Promise<HeartbeatAnswer>
  /**
   * Takes each run from the state and attempt named to the next; see `RunChange`. Message, details and error are
   * replaced, also by null; null progress, reason or name leaves what is stored. When an attempt ends, `workerId` becomes null. A
   * run that becomes pending without a `claimableInMs` is due at its `dueAt`. Runs that end here do so in the order given.
   */
  transition(changes: readonly RunChange[]): Promise<readonly TransitionAnswer[]>
  /**
   * Deletes finished runs, each with its log, silent workers, old entries of the journal, and statistics that needn't be kept any
   * longer: at most `limit` of each at a time. Never schedules,
   * unfinished runs, and the runs of occurrences after their schedule's `coveredUntil`: a plan has to find these, or it would
   * fire them again.
   */
  prune(request: PruneRequest): Promise<Pruned>

  /**
   * Keeps lines. One whose (run, attempt, number) is stored already is left as it is; those of a run that is not stored
   * are dropped, and so is a line that can't be kept, which is no fault.
   */
  appendLogs(lines: readonly LogLine[]): Promise<void>
  /** By (attempt, number), ascending, those after `after`. */
  readLogs(request: LogPage): Promise<readonly StoredLogLine[]>

  /**
   * Writes a document if its stored version is `ifVersion`; null: if there is none. The store sets its version and instants. A value of
   * null deletes it. If it is written, so is the entry, as one atom.
   */
  putDocument(document: NewDocument, ifVersion: number | null, entry?: NewJournalEntry): Promise<Swap>
  /** By id, ascending, those after `afterId`. */
  findDocuments(filter: DocumentFilter, page: DocumentPage): Promise<readonly Document[]>
  /** Keeps entries, dated by the store's clock. One whose id is stored already is left as it is. */
  appendJournal(entries: readonly NewJournalEntry[]): Promise<readonly AppendAnswer[]>
  /** In the order asked for. One that comes in with somebody's transaction has the instant of its writing, not of their commit. */
  readJournal(filter: JournalFilter, page: JournalPage): Promise<readonly JournalEntry[]>

  findSchedules(filter: ScheduleFilter, page: SchedulePage): Promise<readonly Schedule[]>
  /**
   * Newest first by the instant named, or by id, ascending. Runs without that instant are left out. A run that matches for as long as
   * the call lasts is in its place, whatever happens to others meanwhile. It costs little however large the runs are.
   */
  findRuns(filter: RunFilter, page: RunPage): Promise<readonly RunSummary[]>
  /** Whole runs, in any order. Ids that aren't stored are left out. */
  readRuns(ids: readonly string[]): Promise<readonly Run[]>
  /**
   * How many runs and schedules match, by state; none where no filter is given. Each number is counted up to the limit: what
   * reaches it stands for so many or more.
   */
  count(request: CountRequest): Promise<Counts>
  /** What was counted of a subject, oldest first. Buckets in which nothing was counted are left out. */
  summarise(request: SummaryRequest): Promise<readonly StatisticsBucket[]>
  /** By id, ascending, those after `afterId`. */
  findWorkers(page: { afterId: string | null; limit: number }): Promise<readonly Worker[]>
}

/** A store on a database whose transactions a program can share. */
export interface TransactionalStore<Transaction = unknown> extends Store {
  /**
   * The same store inside somebody's transaction: what is written through it comes with their commit, or not at all. It
   * lives as long as the transaction; opening, closing and listening do nothing there.
   */
  within(transaction: Transaction): Store
}

export function isTransactional(store: Store): store is TransactionalStore {
  return "within" in store
}

/** A store that says what it is, for the log: `memory`, `sqlite`, `postgres`, `redis`, or a word of its author's. */
export interface NamedStore extends Store {
  readonly kind: string
}

export function kindOfStore(store: Store): string {
  const { kind } = store as Partial<NamedStore>
  return typeof kind === "string" ? kind : "unnamed"
}

/**
 * What may have happened: something about schedules, runs to claim, held runs that were taken away, a document that was written, or
 * runs that ended. Of ends there may be thousands a second: processes are told a few times a second at most. A fire that goes on as expected is no news about its schedule: one that makes it due sooner is, and so is a plan with an entry. And
 * `forgotten`: the store has lost something it had confirmed. Only stores that can notice say it, each to its own listeners, once for
 * a loss.
 */
export type Hint = "schedules" | "runs" | "cancelled" | "documents" | "ended" | "forgotten"
