/** Cron expressions by themselves: `belfry/cron`. Nothing here starts a timer or reads a clock. */

import type { CronOptions as CoreOptions, Cron } from "./core/cron/cron.ts"
import { describeCron } from "./core/cron/describe.ts"
import { type LintFacts as CoreLintFacts, type Lint, lintCron } from "./core/cron/lint.ts"
import { parseCron } from "./core/cron/parse.ts"
import { nextOccurrence, previousOccurrence } from "./core/cron/search.ts"
import {
  atOption,
  checked,
  checkedValue,
  notAllowed,
  type OptionSource,
  type OptionType,
} from "./core/options/checked.ts"
import {
  choice,
  instant,
  integer,
  mapped,
  numberBetween,
  record,
  required,
  text,
} from "./core/options/option-types.ts"
import { DST, OVERLAP_POLICY } from "./core/options/policies.ts"
import { type Instant, parseInstant } from "./core/time/instant.ts"
import { type Zone, zoneNamed } from "./core/time/zone.ts"

export type { CalendarCron, Cron, DstPolicy, IntervalCron } from "./core/cron/cron.ts"
export type { Fix, Lint, LintCode } from "./core/cron/lint.ts"
export { BelfryError } from "./core/errors.ts"

/** The options of `parse`. */
export interface CronOptions extends Omit<CoreOptions, "anchor"> {
  /** The instant that `@every` counts from. Without it, each call counts from the instant it is given. */
  readonly anchor?: Date | string | number
}

/** Parses an expression. Throws a `BelfryError` that names the field, the value, the range and the position. */
export function parse(expression: string, options: CronOptions = {}): Cron {
  const source: OptionSource = { code: "BELFRY_CRON_SYNTAX", subject: "parse" }
  const given = withoutUndefined<CoreOptions>(checked(options, CRON_OPTIONS, source))
  atOption({ source, option: "timezone" }, () => zoneNamed(given.timezone ?? "UTC"))
  return parseCron(expression, given)
}

const CRON_OPTIONS = {
  timezone: text({ min: 1, max: 100 }),
  dst: DST,
  dayMatch: choice("either", "both"),
  seed: text({ min: 0, max: 1_000 }),
  anchor: instant,
} satisfies Record<keyof CronOptions, OptionType<unknown>>

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

/** The expression in English, in its own time zone: `At 09:00 on Monday`. */
export function describe(cron: Cron): string {
  return describeCron(parsed(cron, "describe"))
}

/** Facts about a schedule that some lints need. */
export interface LintFacts extends Omit<CoreLintFacts, "until"> {
  /** Dates in messages are the next ones after this instant. */
  readonly now: Date | string | number
  /** When the schedule ends. */
  readonly until?: Date | string | number
}

/** Reports what the author probably didn't intend. Lints about a schedule's runs need the matching fact in `facts`. */
export function lint(cron: Cron, facts: LintFacts): Lint[] {
  const source: OptionSource = { code: "BELFRY_CRON_SYNTAX", subject: "lint" }
  const { now, ...rest } = checked(facts, LINT_FACTS, source)
  return lintCron(parsed(cron, "lint"), now, withoutUndefined(rest))
}

const COUNT = integer(0, Number.MAX_SAFE_INTEGER)
const MS = numberBetween(0, Number.MAX_SAFE_INTEGER, "a number of milliseconds")

const LINT_FACTS = {
  now: required(instant),
  until: instant,
  sameMinute: mapped(
    record({ others: required(COUNT), freeMinute: integer(0, 59) }),
    withoutUndefined<NonNullable<CoreLintFacts["sameMinute"]>>,
  ),
  duration: mapped(
    record({ p50Ms: MS, p95Ms: required(MS), overlap: required(OVERLAP_POLICY) }),
    withoutUndefined<NonNullable<CoreLintFacts["duration"]>>,
  ),
  runsLeft: COUNT,
} satisfies Record<keyof LintFacts, OptionType<unknown>>

/** Checks that `cron` was parsed: passing the expression's text is a likely mistake. */
function parsed(cron: unknown, subject: string): Cron {
  const source: OptionSource = { code: "BELFRY_CRON_SYNTAX", subject }
  return checkedValue(cron, required(PARSED), { source, option: "cron" })
}

const PARSED: OptionType<Cron> = {
  allowed: "the result of `parse`",
  read(value, at) {
    const { kind, everyMs, zone } = Object(value) as {
      kind?: unknown
      everyMs?: unknown
      zone?: Partial<Zone>
    }
    const isInterval = kind === "interval" && typeof everyMs === "number" && everyMs >= 1
    const isCalendar = kind === "calendar" && typeof zone?.spanAt === "function"
    if (isInterval || isCalendar) return value as Cron
    throw notAllowed(value, PARSED.allowed, at)
  },
}

/** Removes options that were not given, so that defaults apply. */
function withoutUndefined<Given extends object>(
  read: {
    readonly [Name in keyof Given]: Given[Name] | undefined
  },
): Given {
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined)) as Given
}

function toDate(instant: Instant | null): Date | null {
  return instant === null ? null : new Date(instant)
}
