import type { DstPolicy } from "../cron/cron.ts"
import type { RetryPolicy } from "../run/backoff.ts"
import type { Instant } from "../time/instant.ts"
import type { Json } from "../values/json.ts"
import type { Timetable, Trigger } from "./timetable.ts"

/** A stored rule (when, which task, which payload, which policies) and its progress. */
export interface Schedule extends NewSchedule, ScheduleTally {
  /** Increases with every change, including a fire. It fences every decision about the schedule. */
  readonly version: number
}

/** The part of a schedule that its writer decides. The store adds the version and the tally. */
export interface NewSchedule extends ScheduleDefinition, ScheduleProgress {
  readonly id: string
  /** Increases when the definition is edited. Edits by users are based on it. */
  readonly revision: number
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** A fingerprint of the definition that code last declared. It differs from the stored one after an operator's change. */
  readonly declaredAs: string | null
  /**
   * Changes written by SQL directly, without our checks, since the last plan, oldest first. While there are any, the schedule is
   * due. The next plan carries each out like an operation of the API, and the store then deletes them. A put with edits
   * leaves them to the next plan; a put without edits deletes them.
   */
  readonly edits?: readonly Edit[]
}

/** One change of a schedule that was written by SQL without our checks. */
export interface Edit {
  readonly at: Instant
  readonly by: string | null
  /** The state before the change. */
  readonly was: ScheduleDefinition & Pick<ScheduleProgress, "paused">
  /** The requested time of the next occurrence. Null: plan again from the timetable. Undefined: no time was requested. */
  readonly nextRunAt?: Instant | null
}

/** The part of a schedule that a person or a program decides. Only an edit changes it. */
export interface ScheduleDefinition {
  readonly task: string
  readonly payload: Json
  readonly triggers: readonly Trigger[]
  readonly timezone: string
  readonly dst: DstPolicy
  readonly priority: number
  readonly jitterMs: number
  /** Occurrences closer than this to the last fired one are left out and leave no record. */
  readonly spacingMs: number
  readonly startsAt: Instant | null
  readonly endsAt: Instant | null
  readonly maxRuns: number | null
  readonly removeWhenFinished: boolean
  readonly catchUp: CatchUp
  readonly overlap: Overlap
  readonly maxConcurrentRuns: number | null
  readonly dependsOn: readonly Dependency[]
  readonly retry: RetryPolicy | null
  readonly timeoutMs: number | null
  readonly enabled: boolean
  readonly tags: readonly string[]
  readonly description: string
  /** The owner of the code that declares it. Null if it was made by hand. */
  readonly owner: string | null
  /** The owner's release that declared it. An older release can't undo a newer one. */
  readonly release: number
}

/** The progress of a schedule. Fires change it, as do pausing, skipping and moving. */
export interface ScheduleProgress {
  /** When the schedule is due. Null: it is finished, disabled, paused without an end, or can't be planned. */
  readonly nextRunAt: Instant | null
  /** Every occurrence up to here is a run or a recorded skip. Null before the first plan. */
  readonly coveredUntil: Instant | null
  readonly overrides: readonly OccurrenceOverride[]
  readonly paused: Pause | null
  /** How many of its occurrences became runs. `maxRuns` limits this number. */
  readonly firedCount: number
  /** Why it can't be planned, such as a cron or a time zone that was written without our checks. */
  readonly lastError: string | null
  readonly finishedAt: Instant | null
}

/**
 * Counts that a store updates when it creates a run of the schedule (fired, manual or backfilled) and when one ends.
 * Pruning doesn't change them.
 */
export interface ScheduleTally {
  readonly runCount: number
  readonly lastRunId: string | null
  readonly lastRunAt: Instant | null
  /** The state of the run that ended last. `lastEndedAt` is when it ended. */
  readonly lastState: EndState | null
  readonly lastEndedAt: Instant | null
  readonly lastSuccessAt: Instant | null
  /** How many runs failed since the last success. Cancelled runs don't count: they say nothing about the task. */
  readonly failuresInARow: number
}

/** The end states of a run, without `skipped`. */
export type EndState = "succeeded" | "failed" | "cancelled"

export const NO_RUNS: ScheduleTally = {
  runCount: 0,
  lastRunId: null,
  lastRunAt: null,
  lastState: null,
  lastEndedAt: null,
  lastSuccessAt: null,
  failuresInARow: 0,
}

/** The progress of a schedule before its first plan. */
export const NO_PROGRESS: ScheduleProgress = {
  nextRunAt: null,
  coveredUntil: null,
  overrides: [],
  paused: null,
  firedCount: 0,
  lastError: null,
  finishedAt: null,
}

export function progressOf(schedule: ScheduleProgress): ScheduleProgress {
  const { nextRunAt, coveredUntil, overrides, paused, firedCount, lastError, finishedAt } = schedule
  return { nextRunAt, coveredUntil, overrides, paused, firedCount, lastError, finishedAt }
}

/** What happens to occurrences that were missed. Under every policy, occurrences that don't run are recorded. */
export interface CatchUp {
  /** `once`: run the newest missed one. `none`: only those within the grace. `all`: each within the window, up to the limit. */
  readonly policy: "once" | "none" | "all"
  /** An occurrence up to this late counts as on time. */
  readonly graceMs: number
  readonly windowMs: number
  readonly limit: number
}

/** What happens when an occurrence is due while an earlier run is unfinished. */
export interface Overlap {
  readonly policy: "skip" | "queue" | "replace" | "allow"
  /** How many runs may wait, under `queue`. */
  readonly limit: number
}

/** The schedule fires only if the schedule `scheduleId` succeeded within the last `withinMs`. */
export interface Dependency {
  readonly scheduleId: string
  readonly withinMs: number
}

/** An operator's change of one occurrence: moved, skipped (`dueAt` null), or added where the timetable has none. */
export interface OccurrenceOverride {
  readonly scheduledFor: Instant
  readonly dueAt: Instant | null
  readonly reason: string | null
  readonly by: string | null
  /**
   * This occurrence is the next one. Earlier occurrences of the timetable are passed over, and recorded after their time. At most
   * one override of a schedule has it.
   */
  readonly isNext?: boolean
}

export interface Pause {
  readonly at: Instant
  readonly until: Instant | null
  readonly reason: string | null
  readonly by: string | null
}

export const OVERRIDES_MAX = 100

export function timetableOf(schedule: NewSchedule): Timetable {
  return {
    id: schedule.id,
    triggers: schedule.triggers,
    timezone: schedule.timezone,
    dst: schedule.dst,
    anchor: schedule.createdAt,
    startsAt: schedule.startsAt,
    endsAt: schedule.endsAt,
  }
}

/** Whether the schedule has used up its `maxRuns`. It ends then, even if its timetable goes on. */
export function isSpent({ maxRuns, firedCount }: Pick<Schedule, "maxRuns" | "firedCount">): boolean {
  return maxRuns !== null && firedCount >= maxRuns
}

/** The concurrency key of a schedule's runs, for overlap and `maxConcurrentRuns`. Backfilled runs don't have it. */
export function concurrencyKeyOf(scheduleId: string): string {
  return `schedule:${scheduleId}`
}
