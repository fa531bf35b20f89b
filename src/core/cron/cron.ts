import type { Instant } from "../time/instant.ts"
import type { Zone } from "../time/zone.ts"
import type { Field } from "./field.ts"
import type { FieldLookups } from "./field-lookup.ts"

/** When a fixed-time job runs if the wall clock skips its time (gap) or shows it twice (overlap). */
export interface DstPolicy {
  /** `after`: once, at the first instant after the gap, as Vixie cron does. */
  readonly gap: "after" | "skip"
  readonly overlap: "first" | "second" | "both"
}

export interface CronOptions {
  /** An IANA name. Default UTC. The host's time zone is never used. */
  readonly timezone?: string
  readonly dst?: Partial<DstPolicy>
  /** Whether a day must match `either` (POSIX) or `both` day fields when both are set. */
  readonly dayMatch?: "either" | "both"
  /** Chooses the value of `H`. The same seed always gives the same value. A schedule uses its id. */
  readonly seed?: string
  /** The instant that `@every` counts from. Without it, each search counts from the instant it is given. */
  readonly anchor?: Instant
}

/** A parsed expression. The search, the description and the lints all use this form, so they can't disagree. */
export type Cron = CalendarCron | IntervalCron

export interface CalendarCron {
  readonly kind: "calendar"
  readonly expression: string
  readonly zone: Zone
  readonly dst: DstPolicy
  readonly dayMatch: "either" | "both"
  readonly hasSeconds: boolean
  /**
   * A job at fixed times of day: neither minute nor hour begins with `*`. The DST policy applies only to fixed-time jobs.
   * All other jobs follow elapsed time, which has no gaps and no overlaps.
   */
  readonly isFixedTime: boolean
  readonly second: Field
  readonly minute: Field
  readonly hour: Field
  readonly dayOfMonth: Field
  readonly month: Field
  readonly dayOfWeek: Field
  readonly lookups: FieldLookups
}

export interface IntervalCron {
  readonly kind: "interval"
  readonly expression: string
  readonly everyMs: number
  readonly anchor: Instant | null
}
