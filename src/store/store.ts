import type { Document, NewDocument } from "../core/document.ts"
import type { Instant } from "../core/instant.ts"
import type { JournalEntry, NewJournalEntry } from "../core/journal.ts"
import type { Json } from "../core/json.ts"
import type { FireFacts, FirePlan } from "../core/plan.ts"
import type { NewRun, Progress, Run, RunChange, RunState, TriggeredBy } from "../core/run.ts"
import type { RunCounts } from "../core/run-states.ts"
import type { RunSummary } from "../core/run-summary.ts"
import type { Schedule } from "../core/schedule.ts"
import type { ScheduleCounts, ScheduleState } from "../core/schedule-state.ts"
import type { StatisticsAddition, StatisticsBucket } from "../core/statistics.ts"

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

export type Swap = { readonly outcome: "done"; readonly version: number } | { readonly outcome: "stale" }

export interface DueRequest {
  readonly limit: number
  /** Nothing, unless said. */
  readonly aheadMs?: number
}

export interface DueSchedules {
  readonly now: Instant
  readonly due: readonly { readonly schedule: Schedule; readonly facts: FireFacts }[]
  /**
   * The earliest `nextRunAt` after now and what was asked ahead; null if there is none. Now, if fewer than asked for were
   * given and there are more; some moments from now, if these were just given to others.
   */
  readonly nextDueAt: Instant | null
  /** How many are due at that very instant, counted up to the limit. */
  readonly nextDueCount: number
}

export type FireAnswer =
  /** `created` are the ids that weren't there before. */
  | { readonly outcome: "done"; readonly created: readonly string[] }
  | { readonly outcome: "stale" }
  | { readonly outcome: "held" }
  | Refused

/** Something in the element can't be kept, and nothing of it happened; sending it again would end the same. */
export interface Refused {
  readonly outcome: "refused"
  readonly why: string
}

export type EnqueueAnswer =
  | {
      readonly outcome: "created" | "exists" | "held"
      /** The run there: the new one, the one with its id, or the one that holds its live key. */
      readonly runId: string
    }
  | (Refused & { readonly runId: string })

export interface ClaimRequest {
  readonly workerId: string
  readonly tasks: readonly { readonly name: string; readonly leaseMs: number }[]
  readonly limit: number
}

export interface Claimed {
  readonly now: Instant
  readonly runs: readonly Run[]
  /**
   * When the next unfinished run of these tasks is due, after now, but for those given here; null if there is none. Now, if
   * fewer than asked for were given and there are more: a store needn't give a thousand in one piece.
   */
  readonly nextClaimableAt: Instant | null
}

export interface Worker {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly tasks: readonly string[]
  readonly slots: number
  readonly state: "active" | "draining"
  /** What the process does: one that only fires beats, too. */
  readonly roles: readonly WorkerRole[]
  /** Of Belfry. */
  readonly version: string
  /** In the user's words, such as where it runs. */
  readonly labels: Readonly<Record<string, string>>
  readonly startedAt: Instant
  readonly heartbeatAt: Instant
  /** By when its next heartbeat should have come. Once that has passed it is silent. */
  readonly expectedBy: Instant
  /** How many runs it held at its last heartbeat. */
  readonly running: number
}

export type WorkerRole = "fire" | "work"

/** What a worker says of itself. */
export type WorkerDescription = Omit<Worker, "startedAt" | "heartbeatAt" | "expectedBy" | "running">

export interface Heartbeat {
  readonly worker: WorkerDescription
  /** Within this time the next one comes. */
  readonly nextInMs: number
  /** The worker says goodbye: its record goes, what it holds runs out by its lease. */
  readonly isLeaving: boolean
  readonly held: readonly HeldRun[]
  /** What the process has counted; null if there is nothing to hand over. */
  readonly statistics: StatisticsBatch | null
}

export interface StatisticsBatch {
  /** From 1, one more with each new batch of a worker. A batch that is sent again is added once. */
  readonly number: number
  readonly additions: readonly StatisticsAddition[]
}

export interface HeldRun {
  readonly runId: string
  readonly attempt: number
  readonly leaseMs: number
  /** Null leaves what is stored. */
  readonly progress: Progress | null
}

export interface HeartbeatAnswer {
  readonly now: Instant
  /** Whether the statistics are in, now or from before; true if there were none. They needn't be sent again. */
  readonly areStatisticsIn: boolean
  readonly gone: readonly {
    readonly runId: string
    readonly attempt: number
    /** `cancelled` only while the run is cancelled at that attempt; whatever else became of it is `lost`. */
    readonly why: "cancelled" | "lost"
  }[]
}

export type TransitionAnswer =
  | { readonly outcome: "done" }
  /** Where the run is instead; null if it is no longer stored. */
  | { readonly outcome: "stale"; readonly state: RunState | null; readonly attempt: number }
  /** It can't become unfinished again: another run holds its live key. */
  | { readonly outcome: "held" }
  | Refused

export interface PruneRequest {
  /** Finished longer ago than this. */
  readonly olderThanMs: number
  /** The newest of each schedule by `completedAt` that stay whatever their age. Runs of no schedule go by age alone. */
  readonly keepPerSchedule: number
  /** Workers silent for longer than this. */
  readonly silentForMs: number
  /** Entries that were made longer ago than this. */
  readonly journalOlderThanMs: number
  /** For each kind; runs that stay don't use it up. */
  readonly limit: number
}

export interface Pruned {
  readonly runs: number
  readonly workers: number
  readonly entries: number
  /** Of statistics, where the store doesn't delete them by itself. */
  readonly buckets: number
}

export interface SummaryRequest {
  readonly subject: string
  readonly spanMs: number
  /** Buckets that begin at `from` or later, and before `until`. */
  readonly from: Instant
  readonly until: Instant
  readonly limit: number
}

export type LogLevel = "debug" | "info" | "warn" | "error"

export interface LogLine {
  readonly runId: string
  readonly attempt: number
  /** Made by the caller: from 1, rising, within its run and attempt. It is the line's identity there. */
  readonly number: number
  readonly level: LogLevel
  readonly message: string
  readonly fields: Json
  /** How long before the call it was written: the store's clock dates it. */
  readonly agoMs: number
}

export interface StoredLogLine extends Omit<LogLine, "agoMs" | "runId"> {
  readonly at: Instant
}

export interface LogPage {
  readonly runId: string
  /** The last line of the page before. */
  readonly after: { readonly attempt: number; readonly number: number } | null
  readonly limit: number
}

export interface DocumentFilter {
  readonly kind: string
  readonly ids?: readonly string[]
}

export interface DocumentPage {
  readonly afterId: string | null
  readonly limit: number
}

export type AppendAnswer = { readonly outcome: "done" } | Refused

/** Every part given must hold; an empty list matches nothing. */
export interface JournalFilter {
  readonly subject?: string
  /** Quick together with `subject`; alone, every entry may be looked at. */
  readonly subjectId?: string
  readonly actions?: readonly string[]
  readonly by?: string
}

export interface JournalPage {
  /** Within one instant by id, in the same direction. */
  readonly order: "newest" | "oldest"
  /** The last entry of the page before. */
  readonly after: { readonly at: Instant; readonly id: string } | null
  /** `from` itself is within, `until` is not. */
  readonly from?: Instant
  readonly until?: Instant
  readonly limit: number
}

/** Every part given must hold; an empty list matches nothing. */
export interface ScheduleFilter {
  readonly ids?: readonly string[]
  /** How its id begins. */
  readonly idPrefix?: string
  readonly owner?: string
  readonly task?: string
  readonly tag?: string
  /** Is in its id, its task or its description, whatever the case of ASCII letters. */
  readonly text?: string
  /** By `scheduleStateOf`, at the store's now. */
  readonly states?: readonly ScheduleState[]
}

export interface SchedulePage {
  /** By id, ascending; the soonest next run first; or the newest last run first. Whoever has no such instant comes last. */
  readonly orderBy: "id" | "nextRunAt" | "lastRunAt"
  /** The last schedule of the page before. `at` is the instant that they are ordered by, and null where they are ordered by id. */
  readonly after: { readonly at: Instant | null; readonly id: string } | null
  readonly limit: number
}

/** Every part given must hold; an empty list matches nothing. */
export interface RunFilter {
  readonly ids?: readonly string[]
  /** How its id begins. Quick with `orderBy: "id"`; with other orders, every run may be looked at. */
  readonly idPrefix?: string
  readonly scheduleId?: string
  readonly parentId?: string
  /** Runs that this worker holds. */
  readonly workerId?: string
  readonly task?: string
  readonly states?: readonly RunState[]
  readonly triggeredBy?: readonly TriggeredBy[]
  readonly concurrencyKey?: string
}

export interface CountRequest {
  readonly runs?: RunFilter
  readonly schedules?: ScheduleFilter
  readonly limit: number
}

export interface Counts {
  readonly runs: Readonly<RunCounts>
  readonly schedules: Readonly<ScheduleCounts>
}

export interface RunPage {
  readonly orderBy: "createdAt" | "scheduledFor" | "completedAt" | "id"
  /** The last run of the page before. `at` is the instant that runs are ordered by, and 0 where they are ordered by id. */
  readonly after: { readonly at: Instant; readonly id: string } | null
  /** Bounds of the instant that runs are ordered by: `from` itself is within, `until` is not. */
  readonly from?: Instant
  readonly until?: Instant
  readonly limit: number
}
