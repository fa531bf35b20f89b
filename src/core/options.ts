import type { DstPolicy } from "./cron/cron.ts"
import type { Duration } from "./duration.ts"
import type { CatchUp, Overlap } from "./schedule.ts"

/** What people write about schedules and runs. `definition.ts` and `policies.ts` check it and complete it. */

export type When = Date | string | number

/** When it occurs: exactly one of these. */
export interface TriggerOptions {
  /** 5 fields, 6 with seconds, or a descriptor such as `@daily`. */
  readonly cron?: string
  /** What a day must match when a cron names both a day of the month and a weekday. */
  readonly dayMatch?: "either" | "both"
  /** An interval, counted from `anchor`, or `startsAt`, or the schedule's creation; it never drifts. */
  readonly every?: Duration
  readonly anchor?: When
  /** Once, at that instant. */
  readonly at?: When
  /** Once, this long from now. */
  readonly in?: Duration
}

export interface RetryOptions {
  /** In all, the first one included. */
  readonly attempts?: number
  readonly backoff?: "exponential" | "linear" | "fixed"
  /** The first delay. */
  readonly delay?: Duration
  readonly maxDelay?: Duration
  /** The share of each delay left to chance, 0 to 1. */
  readonly jitter?: number
}

export type PriorityOption = number | "low" | "normal" | "high"

export interface ScheduleOptions extends TriggerOptions {
  /** Several triggers instead of one: their occurrences add up. */
  readonly triggers?: readonly TriggerOptions[]
  /** IANA name; UTC unless said. */
  readonly timezone?: string
  readonly dst?: Partial<DstPolicy>
  readonly priority?: PriorityOption
  /** Spreads the due time: deterministic by schedule and occurrence, never past the next occurrence. */
  readonly jitter?: Duration
  /** Leaves out occurrences closer than this to the one before. */
  readonly spacing?: Duration
  readonly startsAt?: When
  readonly endsAt?: When
  readonly maxRuns?: number
  /** Delete the schedule when nothing more is to come. Its runs stay. */
  readonly removeWhenFinished?: boolean
  readonly catchUp?:
    | CatchUp["policy"]
    | { policy: CatchUp["policy"]; grace?: Duration; window?: Duration; limit?: number }
  readonly overlap?: Overlap["policy"] | { policy: "queue"; limit: number }
  readonly maxConcurrentRuns?: number
  readonly dependsOn?: readonly { schedule: string; within: Duration }[]
  readonly retry?: RetryOptions
  readonly timeout?: Duration
  readonly enabled?: boolean
  readonly tags?: readonly string[]
  readonly description?: string
}
