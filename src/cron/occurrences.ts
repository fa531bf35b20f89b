import type { Cron } from "../core/cron/cron.ts"
import { nextOccurrence, previousOccurrence } from "../core/cron/search.ts"
import { checked, type OptionSource, type OptionType } from "../core/options/checked.ts"
import { instant, integer, required } from "../core/options/option-types.ts"
import { type Instant, parseInstant } from "../core/time/instant.ts"
import { parsed } from "./parsed.ts"

/** The first occurrence strictly after the given time, or null if there is none before year 10000. */
export function next(cron: Cron, after: Date | string | number): Date | null {
  return toDate(nextOccurrence(parsed(cron, "next"), parseInstant(after, "time")))
}

/** The last occurrence strictly before the given time. */
export function previous(cron: Cron, before: Date | string | number): Date | null {
  return toDate(previousOccurrence(parsed(cron, "previous"), parseInstant(before, "time")))
}

/** The range of `occurrences`. */
export interface Range {
  /** Not included. */
  readonly after: Date | string | number
  /** Included. */
  readonly until?: Date | string | number
  /** The maximum number of occurrences, up to 100,000. Default 1,000. */
  readonly limit?: number
}

const RANGE = {
  after: required(instant),
  until: instant,
  limit: integer(1, 100_000),
} satisfies Record<keyof Range, OptionType<unknown>>

/** Occurrences in a range, earliest first. */
export function occurrences(cron: Cron, range: Range): Date[] {
  const source: OptionSource = { code: "BELFRY_INSTANT_INVALID", subject: "occurrences" }
  const { after, until = Number.POSITIVE_INFINITY, limit = 1_000 } = checked(range, RANGE, source)
  parsed(cron, "occurrences")
  const found: Date[] = []
  let at = nextOccurrence(cron, after)
  while (at !== null && at <= until && found.length < limit) {
    found.push(new Date(at))
    at = nextOccurrence(cron, at)
  }
  return found
}

function toDate(instant: Instant | null): Date | null {
  return instant === null ? null : new Date(instant)
}
