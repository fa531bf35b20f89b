import type { DstPolicy } from "../cron/cron.ts"
import type { CatchUp, Overlap } from "../schedule/schedule.ts"
import type { Duration } from "../time/duration.ts"

/** The options of schedules and runs as users write them. `definition.ts` and `policies.ts` check and complete them. */

export type When = Date | string | number

/** When a schedule occurs: exactly one of `cron`, `every`, `at` and `in`. */
export interface TriggerOptions {
  /** 5 fields, 6 with seconds, or a descriptor such as `@daily`. */
  readonly cron?: string
  /** Whether a day must match either or both if the cron sets both a day of the month and a weekday. */
  readonly dayMatch?: "either" | "both"
  /** An interval, counted from `anchor`, else `startsAt`, else the schedule's creation. It never drifts. */
  readonly every?: Duration
  readonly anchor?: When
  /** Once, at that instant. */
  readonly at?: When
  /** Once, this long from now. */
  readonly in?: Duration
}

export interface RetryOptions {
  /** The total number of attempts, including the first. */
  readonly attempts?: number
  readonly backoff?: "exponential" | "linear" | "fixed"
  /** The first delay. */
  readonly delay?: Duration
  readonly maxDelay?: Duration
  /** The random share of each delay, 0 to 1. */
  readonly jitter?: number
}

export type PriorityOption = number | "low" | "normal" | "high"

export interface ScheduleOptions extends TriggerOptions {
  /** Several triggers instead of one: their occurrences add up. */
  readonly triggers?: readonly TriggerOptions[]
  /** An IANA name. Default UTC. */
  readonly timezone?: string
  readonly dst?: Partial<DstPolicy>
  readonly priority?: PriorityOption
  /** Delays each occurrence by up to this long: deterministic by schedule and occurrence, never past the next occurrence. */
  readonly jitter?: Duration
  /** Leaves out occurrences closer than this to the last fired one. They leave no record. */
  readonly spacing?: Duration
  readonly startsAt?: When
  readonly endsAt?: When
  readonly maxRuns?: number
  /** Delete the schedule when it has no more occurrences. Its runs stay. */
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
