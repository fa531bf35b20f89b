import type { RetryPolicy } from "./backoff.ts"
import type { DstPolicy } from "./cron/cron.ts"
import type { Instant } from "./instant.ts"
import type { Json } from "./json.ts"
import type { Timetable, Trigger } from "./timetable.ts"

/** A stored rule: when, which task, what payload, which policies; and how far it has come. */
export interface Schedule extends ScheduleDefinition, ScheduleProgress, ScheduleTally {
  readonly id: string
  /** Rises with every change, a fire included: what every decision about the schedule is fenced by. */
  readonly version: number
  /** Rises when the definition is edited: what an editor's change is based on. */
  readonly revision: number
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** The definition as code last declared it, in short; differs from the stored one after an operator's override. */
  readonly declaredAs: string | null
  /**
   * What was written without our checks since the last plan, oldest first, where a store lets others write (SQL). The schedule is
   * due while there are any: the next plan does for each what an operator's step would have done, and the store forgets them
   * with it.
   */
  readonly edits?: readonly Edit[]
}

/** One change of a schedule that was written without our checks. */
export interface Edit {
  readonly at: Instant
  readonly by: string | null
  /** What it was before. */
  readonly was: ScheduleDefinition & Pick<ScheduleProgress, "paused">
  /** When the next occurrence was asked to be. Null: planned anew. Undefined: nothing was asked. */
  readonly nextRunAt?: Instant | null
}

/** What a person or a program decides. Only an edit changes it. */
export interface ScheduleDefinition {
  readonly task: string
  readonly payload: Json
  readonly triggers: readonly Trigger[]
  readonly timezone: string
  readonly dst: DstPolicy
  readonly priority: number
  readonly jitterMs: number
  /** Occurrences closer than this after the last one fired don't count. */
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
  /** Whose code declares it; null if it was made by hand. */
  readonly owner: string | null
  /** The owner's release that declared it: an older release can't undo a newer one. */
  readonly release: number
}

/** How far it has come. Fires change it, and so do pausing, skipping and moving. */
export interface ScheduleProgress {
  /** When it is due; null when nothing more will be. */
  readonly nextRunAt: Instant | null
  /** Every occurrence up to here is a run or a recorded skip; null while the schedule was never planned. */
  readonly coveredUntil: Instant | null
  readonly overrides: readonly OccurrenceOverride[]
  readonly paused: Pause | null
  /** How many runs its occurrences became: what `maxRuns` is about. */
  readonly firedCount: number
  /** Why it can't be planned: a cron or a zone that was written without our checks. */
  readonly lastError: string | null
  readonly finishedAt: Instant | null
}

/**
 * What a store counts when it creates a run of the schedule, by whatever way (fired, by hand or backfilled), and when one ends.
 * Pruning takes nothing of it away.
 */
export interface ScheduleTally {
  readonly runCount: number
  readonly lastRunId: string | null
  readonly lastRunAt: Instant | null
  /** How the run that ended last did so, and when. */
  readonly lastState: EndState | null
  readonly lastEndedAt: Instant | null
  readonly lastSuccessAt: Instant | null
  /** How many have failed since one succeeded. A run that was cancelled says nothing about the task. */
  readonly failuresInARow: number
}

/** How a run ends that was to be performed. */
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

/** Of a schedule that nobody has planned yet. */
export const NO_PROGRESS: ScheduleProgress = {
  nextRunAt: null,
  coveredUntil: null,
  overrides: [],
  paused: null,
  firedCount: 0,
  lastError: null,
  finishedAt: null,
}

/** After being late or away. Occurrences not run are recorded, whatever the policy. */
export interface CatchUp {
  /** `once`: the newest missed one. `none`: only what is no later than the grace. `all`: each, in a window, up to a limit. */
  readonly policy: "once" | "none" | "all"
  /** Lateness that is still on time. */
  readonly graceMs: number
  readonly windowMs: number
  readonly limit: number
}

/** When an occurrence is due while an earlier run is unfinished. */
export interface Overlap {
  readonly policy: "skip" | "queue" | "replace" | "allow"
  /** How many may wait, under `queue`. */
  readonly limit: number
}

/** Fires only if that schedule succeeded recently. */
export interface Dependency {
  readonly scheduleId: string
  readonly withinMs: number
}

/** An operator's word on one occurrence: due at another time, not at all (null), or added where the timetable has none. */
export interface OccurrenceOverride {
  readonly scheduledFor: Instant
  readonly dueAt: Instant | null
  readonly reason: string | null
  readonly by: string | null
  /**
   * It is the next one, whatever the timetable has before it: that is passed over, and recorded when its time has passed. At most
   * one of a schedule's overrides is the next.
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

export function timetableOf(schedule: Schedule): Timetable {
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

/** Its runs are used up: the timetable goes on, the schedule doesn't. */
export function isSpent({ maxRuns, firedCount }: Pick<Schedule, "maxRuns" | "firedCount">): boolean {
  return maxRuns !== null && firedCount >= maxRuns
}

/** What its runs are counted under: overlap and `maxConcurrentRuns` look at these, backfills don't carry it. */
export function concurrencyKeyOf(scheduleId: string): string {
  return `schedule:${scheduleId}`
}
