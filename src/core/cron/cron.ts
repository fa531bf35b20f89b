import type { Instant } from "../instant.ts"
import type { Zone } from "../zone.ts"
import type { Field } from "./field.ts"
import type { Ladders } from "./ladder.ts"

/** What a fixed-time job does when the wall clock skips its time (gap) or shows it again (overlap). */
export interface DstPolicy {
  /** `after`: once, at the first instant after the gap, as Vixie cron does. */
  readonly gap: "after" | "skip"
  readonly overlap: "first" | "second" | "both"
}

export interface CronOptions {
  /** An IANA name; UTC unless said. The host's zone never matters. */
  readonly timezone?: string
  readonly dst?: Partial<DstPolicy>
  /** What a day must match when both day fields are set: `either` (POSIX) or `both`. */
  readonly dayMatch?: "either" | "both"
  /** Spreads `H` evenly over what it may be: the same seed always gives the same value. A schedule uses its id. */
  readonly seed?: string
  /** What `@every` counts from; without it, each question counts from the instant it asks about. */
  readonly anchor?: Instant
}

/** A parsed expression. Search, words and lints all read this one form, so that they can't disagree. */
export type Cron = CalendarCron | IntervalCron

export interface CalendarCron {
  readonly kind: "calendar"
  readonly expression: string
  readonly zone: Zone
  readonly dst: DstPolicy
  readonly dayMatch: "either" | "both"
  readonly hasSeconds: boolean
  /**
   * A job at fixed times of day: neither minute nor hour begins with `*`. Only these are moved or held back when clocks
   * change; all others follow elapsed time, which knows no gaps and no overlaps.
   */
  readonly isFixedTime: boolean
  readonly second: Field
  readonly minute: Field
  readonly hour: Field
  readonly dayOfMonth: Field
  readonly month: Field
  readonly dayOfWeek: Field
  readonly ladders: Ladders
}

export interface IntervalCron {
  readonly kind: "interval"
  readonly expression: string
  readonly everyMs: number
  readonly anchor: Instant | null
}
