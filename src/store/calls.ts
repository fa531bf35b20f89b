import type { Instant } from "../core/instant.ts"
import type { Json } from "../core/json.ts"
import type { FireFacts } from "../core/plan.ts"
import type { Progress, Run, RunState, TriggeredBy } from "../core/run.ts"
import type { RunCounts } from "../core/run-states.ts"
import type { Schedule } from "../core/schedule.ts"
import type { ScheduleCounts, ScheduleState } from "../core/schedule-state.ts"
import type { StatisticsAddition } from "../core/statistics.ts"

/** What the calls of a store take and answer. */

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
