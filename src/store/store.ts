import type { FirePlan } from "../core/planning/plan.ts"
import type { Document, NewDocument } from "../core/records/document.ts"
import type { JournalEntry, NewJournalEntry } from "../core/records/journal.ts"
import type { StatisticsBucket } from "../core/records/statistics.ts"
import type { NewRun, Run, RunChange } from "../core/run/run.ts"
import type { RunSummary } from "../core/run/run-summary.ts"
import type { NewSchedule, Schedule } from "../core/schedule/schedule.ts"
import type { Instant } from "../core/time/instant.ts"
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
 * THE CONTRACT. A store keeps records, compares and swaps; it knows no policy and no state machine. Belfry's promises to its
 * users rest on these laws and on nothing else. `laws.ts` proves them for every store with one suite, without skips.
 *
 *  1. Whole       Each element of a call takes effect entirely or not at all.
 *  2. One clock   "Now" is the store's own clock, read inside the operation. Callers send durations.
 *  3. Fenced      A change names the version, or the state and attempt, it was decided on. If the record has changed since,
 *                 nothing happens and the answer says so.
 *  4. Once        One occurrence of one schedule becomes exactly one run or one skip: the run's id is its identity.
 *  5. Alone       No (run, attempt) is ever given to two workers.
 *  6. Single      At most one unfinished run holds a given live key.
 *  7. Serial      A claim never gives a run when as many runs with its concurrency key are running as its limit allows.
 *  8. Repeatable  Sending a write twice has the effect of sending it once. The caller makes the ids.
 *  9. Bounded     Every call that returns records takes a limit.
 * 10. Quiet       Losing a race is an answer. An exception means that the store is unreachable or unusable. Every call ends
 *                 within a deadline that the store sets (seconds).
 * 11. Hints       Hints may be late, repeated or missing. Only speed depends on them.
 * 12. Apart       A record that can't be read or stored harms no other record: the rest of the call goes on without it, and
 *                 the record shows its fault.
 *
 * Every store has all of these operations, and no flag or option weakens a law. The one extension is an interface of its own,
 * `TransactionalStore`; nothing that Belfry does by itself needs it.
 *
 * Ids, keys and names are compared exactly: case, accents and trailing spaces make them different. Ids are ordered by their
 * UTF-8 bytes; Belfry accepts only ASCII ids from users.
 */
export interface Store {
  /** Brings the schema up to date, or throws the reason. Opening twice is the same as once. Throws after `close`. */
  open(): Promise<void>
  /** Ends connections and listeners. Closing twice is the same as once. Every other call throws afterwards. */
  close(): Promise<void>
  now(): Promise<Instant>
  /**
   * Calls `onHint` when something may have become due. Returns the function that stops listening. A listener that throws
   * harms neither the write before the hint nor other listeners.
   */
  listen(onHint: (hint: Hint) => void): Promise<() => Promise<void>>

  /**
   * Writes a whole schedule if its stored version is `ifVersion`. Null: if the id isn't stored. The journal entry is written
   * with the schedule, as one atom, or not at all.
   *
   * The store sets the version, which never repeats for an id, even after the schedule was deleted and created again. It also
   * keeps the fields of `ScheduleTally`, which a put leaves as they are: `fire` and `enqueue` count a run in the step that
   * creates it, and `transition` records how it ended in the step that ends it. Neither changes the schedule's version.
   */
  putSchedule(schedule: NewSchedule, ifVersion: number | null, entry?: NewJournalEntry): Promise<Swap>
  /**
   * Returns schedules whose `nextRunAt` is at or before now plus `aheadMs`, each with the facts that a plan needs (at most the
   * oldest `UNFINISHED_FACTS_MAX` of its unfinished runs), and when the schedules after these are due.
   *
   * The store chooses which due schedules it returns, so that many processes needn't read the same rows. It may leave out a
   * schedule that it has just returned to another caller; `nextDueAt` then says when to ask again. A schedule that can't be
   * read is returned as `unreadableSchedule` makes it.
   */
  dueSchedules(request: DueRequest): Promise<DueSchedules>
  /**
   * Applies each plan whose `ifVersion` is still the stored version: the new progress, the runs and the journal entry, as one
   * atom. Null progress deletes the schedule; its runs stay. A run whose id exists already is left unchanged. If another run
   * holds the live key of a pending run of the plan, or if a value of the plan can't be stored, nothing of the plan happens.
   */
  fire(plans: readonly FirePlan[]): Promise<readonly FireAnswer[]>

  /**
   * Stores runs. A run whose id exists, or whose live key another run holds, is not stored; the answer names the existing
   * run. A run that can't be stored is refused.
   */
  enqueue(runs: readonly NewRun[]): Promise<readonly EnqueueAnswer[]>
  /**
   * Gives the worker up to `limit` due runs of its tasks: highest priority first, then longest due. Each run becomes running
   * with the next attempt number, the task's lease and no progress. Its old `claimableAt` becomes its `dueAt`.
   *
   * A running run is due when its lease has ended, because its worker fell silent. It is given like any other run; until then
   * it holds its concurrency key. The silent attempt is recorded as `lost`, and the run's `lost` rises, if a heartbeat had
   * confirmed the attempt; otherwise the attempt is recorded as `unconfirmed`.
   *
   * Runs that wait for their concurrency key, however many, don't keep other runs from being given. A run that can't be read
   * is not given: it becomes failed, with the reason as its error.
   */
  claim(request: ClaimRequest): Promise<Claimed>
  /**
   * One call for everything that a worker holds. Records that the worker is alive, confirms the attempts it holds, extends
   * their leases (also an ended lease, if no worker has taken the run since), stores progress, adds the statistics of the
   * process, and returns the runs that the worker no longer holds. If statistics can't be added, the rest takes effect and
   * the answer says so.
   */
  heartbeat(beat: Heartbeat): Promise<HeartbeatAnswer>
  /**
   * Changes each run that is still in the state and attempt named; see `RunChange`. Message, details and error are replaced,
   * also by null. Null for progress, reason or `by` keeps the stored value. When an attempt ends, `workerId` becomes null. A
   * run that becomes pending with a null `claimableInMs` is due at its `dueAt`. Runs that end in one call end in the order
   * given.
   */
  transition(changes: readonly RunChange[]): Promise<readonly TransitionAnswer[]>
  /**
   * Deletes finished runs with their logs, silent workers, old journal entries and expired statistics: at most `limit` of
   * each. Never deletes schedules, unfinished runs, or runs of occurrences after their schedule's `coveredUntil`: a plan has
   * to find these runs, or it would fire their occurrences again.
   */
  prune(request: PruneRequest): Promise<Pruned>

  /**
   * Stores log lines. A line whose (run, attempt, number) is stored already is left unchanged. Lines of a run that isn't
   * stored, and lines that can't be stored, are dropped without an error.
   */
  appendLogs(lines: readonly LogLine[]): Promise<void>
  /** Returns the lines after `after`, ascending by (attempt, number). */
  readLogs(request: LogPage): Promise<readonly StoredLogLine[]>

  /**
   * Writes a document if its stored version is `ifVersion`. Null: if the kind and id aren't stored. A null value deletes the
   * document. The store sets its version and instants. The journal entry is written with the document, as one atom, or not
   * at all.
   */
  putDocument(document: NewDocument, ifVersion: number | null, entry?: NewJournalEntry): Promise<Swap>
  /** Returns the documents after `afterId`, ascending by id. */
  findDocuments(filter: DocumentFilter, page: DocumentPage): Promise<readonly Document[]>
  /** Stores entries, dated by the store's clock. An entry whose id is stored already is left unchanged. */
  appendJournal(entries: readonly NewJournalEntry[]): Promise<readonly AppendAnswer[]>
  /** An entry that was written inside a user's transaction has the instant of the write, not of the commit. */
  readJournal(filter: JournalFilter, page: JournalPage): Promise<readonly JournalEntry[]>

  findSchedules(filter: ScheduleFilter, page: SchedulePage): Promise<readonly Schedule[]>
  /**
   * Returns runs ordered by the instant that `orderBy` names, newest first, or ascending by id. Runs without that instant are
   * left out. A run that matches the filter during the whole call is returned in its place, whatever happens to other runs
   * during the call. The cost doesn't grow with the size of payloads and details.
   */
  findRuns(filter: RunFilter, page: RunPage): Promise<readonly RunSummary[]>
  /** Returns whole runs, in any order. Ids that aren't stored are left out. */
  readRuns(ids: readonly string[]): Promise<readonly Run[]>
  /**
   * Counts the matching runs by state, and the matching schedules by state and by task. Without a filter for runs, or for
   * schedules, their counts are all 0. Each number is counted up to the limit: a number that equals the limit means "at least".
   */
  count(request: CountRequest): Promise<Counts>
  /** Returns the statistics of a subject, oldest bucket first. Empty buckets are left out. */
  summarise(request: SummaryRequest): Promise<readonly StatisticsBucket[]>
  /** Returns the workers after `afterId`, ascending by id. */
  findWorkers(page: { afterId: string | null; limit: number }): Promise<readonly Worker[]>
}

/**
 * A store that can take part in a user's database transaction. An extension of the contract: only calls to which the user passes
 * a transaction need it, and they are refused by a store without `within`.
 */
export interface TransactionalStore<Transaction = unknown> extends Store {
  /**
   * The same store inside the given transaction: its writes are committed or rolled back with the transaction. Valid until
   * the transaction ends. `open`, `close` and `listen` do nothing on it.
   */
  within(transaction: Transaction): Store
}

export function isTransactional(store: Store): store is TransactionalStore {
  return "within" in store
}

/** `kind` is for the log: `memory`, `sqlite`, `postgres`, `redis`, or a word chosen by the author of another store. */
export interface NamedStore extends Store {
  readonly kind: string
}

export function kindOfStore(store: Store): string {
  const { kind } = store as Partial<NamedStore>
  return typeof kind === "string" ? kind : "unnamed"
}

/**
 * What may have happened.
 * - `schedules`: a schedule was written, became due sooner, or had a plan with a journal entry. An ordinary fire sends no hint.
 * - `runs`: there are runs to claim.
 * - `cancelled`: runs were taken away from the workers that held them.
 * - `documents`: a document was written.
 * - `ended`: runs ended. Thousands may end in a second; a process gets this hint a few times a second at most.
 * - `forgotten`: the store lost something it had confirmed. Only stores that can notice a loss send it, each to its own
 *   listeners, once per loss.
 */
export type Hint = "schedules" | "runs" | "cancelled" | "documents" | "ended" | "forgotten"
