import type { Instant } from "../time/instant.ts"
import type { Cron } from "./cron.ts"
import { lintDayRule, lintMissingDays } from "./lint-days.ts"
import { lintClockChanges } from "./lint-dst.ts"
import { lintFacts } from "./lint-facts.ts"
import { lintSteps } from "./lint-steps.ts"
import { lintFarAway, lintFrequency } from "./lint-when.ts"
import { lintZone } from "./lint-zone.ts"

/** One property of an expression, or of its schedule, that its author may not have intended. */
export interface Lint {
  readonly code: LintCode
  readonly severity: "error" | "warn" | "info"
  /** What will happen, with the values, in the schedule's time zone. */
  readonly message: string
  /** An option and its new value. Only if the change is safe without further thought. */
  readonly fix?: Fix
}

export type LintCode = "L01" | "L02" | "L03" | "L04" | "L05" | "L06" | "L07" | "L08" | "L09" | "L10" | "L11"

export interface Fix {
  readonly option: "cron" | "timezone" | "every" | "jitter"
  readonly value: string
}

/** Facts that are not in the expression. A lint is made only if its fact is given. */
export interface LintFacts {
  /** L06: how many other schedules start in the same minute. */
  readonly sameMinute?: { readonly others: number }
  /** L07: how long its runs take, and the schedule's overlap policy. */
  readonly duration?: {
    readonly p50Ms?: number
    readonly p95Ms: number
    readonly overlap: "skip" | "queue" | "replace" | "allow"
  }
  /** L11: when the schedule ends. */
  readonly until?: Instant
  /** L11: how many more runs the schedule may make. */
  readonly runsLeft?: number
}

/** All lints, sorted by code. Dates in messages are the next ones after `now`: nothing here reads a clock. */
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
