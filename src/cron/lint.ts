import type { Cron } from "../core/cron/cron.ts"
import { type LintFacts as CoreLintFacts, type Lint, lintCron } from "../core/cron/lint.ts"
import { checked, type OptionSource, type OptionType } from "../core/options/checked.ts"
import { instant, integer, mapped, numberBetween, record, required } from "../core/options/option-types.ts"
import { OVERLAP_POLICY } from "../core/options/policies.ts"
import { parsed } from "./parsed.ts"
import { withoutUndefined } from "./without-undefined.ts"

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
  sameMinute: record({ others: required(COUNT) }),
  duration: mapped(
    record({ p50Ms: MS, p95Ms: required(MS), overlap: required(OVERLAP_POLICY) }),
    withoutUndefined<NonNullable<CoreLintFacts["duration"]>>,
  ),
  runsLeft: COUNT,
} satisfies Record<keyof LintFacts, OptionType<unknown>>
