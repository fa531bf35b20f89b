import type { Instant } from "../instant.ts"
import type { Cron } from "./cron.ts"
import { lintDayRule, lintMissingDays } from "./lint-days.ts"
import { lintClockChanges } from "./lint-dst.ts"
import { lintFacts } from "./lint-facts.ts"
import { lintSteps } from "./lint-steps.ts"
import { lintFarAway, lintFrequency } from "./lint-when.ts"
import { lintZone } from "./lint-zone.ts"

/** One thing about an expression, or the schedule around it, that may not be what its author meant. */
export interface Lint {
  readonly code: LintCode
  readonly severity: "error" | "warn" | "info"
  /** What will happen, with the values, in the zone of the schedule. */
  readonly message: string
  /** Only where it needs no thought: what to set which option to. */
  readonly fix?: Fix
}

export type LintCode = "L01" | "L02" | "L03" | "L04" | "L05" | "L06" | "L07" | "L08" | "L09" | "L10" | "L11"

export interface Fix {
  readonly option: "cron" | "timezone" | "every" | "jitter"
  readonly value: string
}

/** What an expression can't know about itself. A lint whose fact isn't given isn't made. */
export interface LintFacts {
  /** L06: other schedules that start in the same minute, and a minute of the hour in which few do. */
  readonly sameMinute?: { readonly others: number; readonly freeMinute?: number }
  /** L07: how long its runs take, and what happens to an occurrence that comes before the last run is done. */
  readonly duration?: {
    readonly p50Ms?: number
    readonly p95Ms: number
    readonly overlap: "skip" | "queue" | "replace" | "allow"
  }
  /** L11 */
  readonly until?: Instant
  readonly runsLeft?: number
}

/** All that is odd, by code. `now` decides which dates are next: nothing here reads a clock. */
export function lintCron(cron: Cron, now: Instant, facts: LintFacts = {}): Lint[] {
  const ofExpression =
    cron.kind === "interval"
      ? []
      : [
          ...lintSteps(cron),
          lintDayRule(cron, now),
          ...lintClockChanges(cron, now),
          lintMissingDays(cron),
          lintZone(cron.zone.name),
        ]
  return [...ofExpression, lintFarAway(cron, now), lintFrequency(cron), ...lintFacts(cron, now, facts)]
    .filter((lint) => lint !== null)
    .sort((a, b) => a.code.localeCompare(b.code))
}
