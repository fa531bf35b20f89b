import type { DueFacts } from "../core/planning/plan.ts"
import type { StatisticsAddition } from "../core/records/statistics.ts"
import type { Progress, Run, RunState, TriggeredBy } from "../core/run/run.ts"
import type { RunCounts } from "../core/run/run-states.ts"
import type { Schedule } from "../core/schedule/schedule.ts"
import type { ScheduleCounts, ScheduleState } from "../core/schedule/schedule-state.ts"
import type { Instant } from "../core/time/instant.ts"
import type { Json } from "../core/values/json.ts"

/** The requests and answers of a store's operations. */

export type Swap = { readonly outcome: "done"; readonly version: number } | { readonly outcome: "stale" }

export interface DueRequest {
  readonly limit: number
  /** Default 0. */
  readonly aheadMs?: number
}

export interface DueSchedules {
  readonly now: Instant
  readonly due: readonly { readonly schedule: Schedule; readonly facts: DueFacts }[]
  /**
   * The earliest `nextRunAt` after now plus `aheadMs`. Null: there is none. Now: the answer holds fewer schedules than the
   * limit, and more are due. A short time after now: the others that are due were just returned to another caller.
   */
  readonly nextDueAt: Instant | null
  /** How many schedules are due at exactly that instant, counted up to the limit. */
  readonly nextDueCount: number
}

export type FireAnswer =
  /** `created` holds the ids of the runs that this call created. */
  | { readonly outcome: "done"; readonly created: readonly string[] }
  | { readonly outcome: "stale" }
  | { readonly outcome: "held" }
  | Unstorable

/** A value of the element can't be stored, and nothing of it happened. Sending it again gives the same answer. */
export interface Unstorable {
  readonly outcome: "unstorable"
  readonly why: string
}

export type EnqueueAnswer =
  | {
      readonly outcome: "created" | "exists" | "held"
      /** The stored run: the new run, the run that had its id already, or the run that holds its live key. */
      readonly runId: string
    }
  | (Unstorable & { readonly runId: string })

export interface ClaimRequest {
  readonly workerId: string
  readonly tasks: readonly { readonly name: string; readonly leaseMs: number }[]
  readonly limit: number
}

export interface Claimed {
  readonly now: Instant
  readonly runs: readonly Run[]
  /**
   * When the next unfinished run of these tasks is due, apart from the runs given here. Null: there is none. Now: fewer runs
   * than the limit were given and more are due, because a store may give a large number in several calls.
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
  /** A process that only fires sends heartbeats, too. */
  readonly roles: readonly WorkerRole[]
  /** The version of Belfry. */
  readonly version: string
  /** Chosen by the user, such as the region. */
  readonly labels: Readonly<Record<string, string>>
  readonly startedAt: Instant
  readonly heartbeatAt: Instant
  /** When the next heartbeat is due. After this instant the worker is silent. */
  readonly expectedBy: Instant
  /** How many runs the worker held at its last heartbeat. */
  readonly running: number
}

export type WorkerRole = "fire" | "work"

/** The part of a worker's record that the worker sends. */
export type WorkerDescription = Omit<Worker, "startedAt" | "heartbeatAt" | "expectedBy" | "running">

export interface Heartbeat {
  readonly worker: WorkerDescription
  /** The next heartbeat is sent within this time. */
  readonly nextInMs: number
  /** The worker stops: its record is deleted. Runs that it still holds keep their leases until these end. */
  readonly isLeaving: boolean
  readonly held: readonly HeldRun[]
  /** Null: nothing was counted since the last batch. */
  readonly statistics: StatisticsBatch | null
}

export interface StatisticsBatch {
  /** Starts at 1 and rises by 1 with each batch of a worker. A batch that is sent again is added once. */
  readonly number: number
  readonly additions: readonly StatisticsAddition[]
}

export interface HeldRun {
  readonly runId: string
  readonly attempt: number
  readonly leaseMs: number
  /** Null keeps the stored progress. */
  readonly progress: Progress | null
}

export interface HeartbeatAnswer {
  readonly now: Instant
  /** Whether the batch is stored, by this call or an earlier one, and needn't be sent again. True if there was none. */
  readonly areStatisticsIn: boolean
  readonly gone: readonly {
    readonly runId: string
    readonly attempt: number
    /** `cancelled`: the run is cancelled at this very attempt. `lost`: every other case. */
    readonly why: "cancelled" | "lost"
  }[]
}

export type TransitionAnswer =
  | { readonly outcome: "done" }
  /** The run's stored state and attempt. Null: the run isn't stored. */
  | { readonly outcome: "stale"; readonly state: RunState | null; readonly attempt: number }
  /** The run can't become unfinished again, because another run holds its live key. */
  | { readonly outcome: "held" }
  | Unstorable

export interface PruneRequest {
  /** Deletes runs that finished longer ago than this. */
  readonly olderThanMs: number
  /** How many runs of each schedule stay at any age, newest by `completedAt`. Runs without a schedule go by age alone. */
  readonly keepPerSchedule: number
  /** Deletes workers that were silent for longer than this. */
  readonly silentForMs: number
  /** Deletes journal entries that are older than this. */
  readonly journalOlderThanMs: number
  /** For runs, workers, entries and buckets each. Runs that stay don't count towards it. */
  readonly limit: number
}

export interface Pruned {
  readonly runs: number
  readonly workers: number
  readonly entries: number
  /** Buckets of statistics. 0 in a store that deletes expired buckets by itself. */
  readonly buckets: number
}

export interface SummaryRequest {
  readonly subject: string
  readonly spanMs: number
  /** Returns buckets that begin at `from` or later, and before `until`. */
  readonly from: Instant
  readonly until: Instant
  readonly limit: number
}

export type LogLevel = "debug" | "info" | "warn" | "error"

export interface LogLine {
  readonly runId: string
  readonly attempt: number
  /** Made by the caller: starts at 1 and rises. (run, attempt, number) identifies the line. */
  readonly number: number
  readonly level: LogLevel
  readonly message: string
  readonly fields: Json
  /** How long before the call the line was written. The store dates the line by its own clock. */
  readonly agoMs: number
}

export interface StoredLogLine extends Omit<LogLine, "agoMs" | "runId"> {
  readonly at: Instant
}

export interface LogPage {
  readonly runId: string
  /** The last line of the previous page. */
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

export type AppendAnswer = { readonly outcome: "done" } | Unstorable

/** All given parts must match. An empty list matches nothing. */
export interface JournalFilter {
  readonly subject?: string
  /** Fast together with `subject`. Alone, the store may read every entry. */
  readonly subjectId?: string
  readonly actions?: readonly string[]
  readonly by?: string
}

export interface JournalPage {
  /** Entries of one instant are ordered by id, in the same direction. */
  readonly order: "newest" | "oldest"
  /** The last entry of the previous page. */
  readonly after: { readonly at: Instant; readonly id: string } | null
  /** `from` is included, `until` is not. */
  readonly from?: Instant
  readonly until?: Instant
  readonly limit: number
}

/** All given parts must match. An empty list matches nothing. */
export interface ScheduleFilter {
  readonly ids?: readonly string[]
  readonly idPrefix?: string
  readonly owner?: string
  readonly task?: string
  readonly tag?: string
  /** Part of the id, the task or the description. The case of ASCII letters is ignored. */
  readonly text?: string
  /** As `scheduleStateOf` computes it, at the store's now. */
  readonly states?: readonly ScheduleState[]
}

export interface SchedulePage {
  /** `id`: ascending. `nextRunAt`: soonest first. `lastRunAt`: newest first. Schedules without that instant come last. */
  readonly orderBy: "id" | "nextRunAt" | "lastRunAt"
  /** The last schedule of the previous page. `at` is the instant that orders the page. Null: ordered by id, or no instant. */
  readonly after: { readonly at: Instant | null; readonly id: string } | null
  readonly limit: number
}

/** All given parts must match. An empty list matches nothing. */
export interface RunFilter {
  readonly ids?: readonly string[]
  /** Fast with `orderBy: "id"`. With other orders, the store may read every run. */
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
  /** The same schedules by the task that they name: the first `limit` tasks by name, without schedules whose task can't be read. */
  readonly tasks: readonly TaskCounts[]
}

export interface TaskCounts {
  readonly task: string
  readonly schedules: Readonly<ScheduleCounts>
}

export interface RunPage {
  readonly orderBy: "createdAt" | "scheduledFor" | "completedAt" | "id"
  /** The last run of the previous page. `at` is the instant that orders the page. Null: ordered by id. */
  readonly after: { readonly at: Instant | null; readonly id: string } | null
  /** Bounds of the instant that orders the page. `from` is included, `until` is not. */
  readonly from?: Instant
  readonly until?: Instant
  readonly limit: number
}
