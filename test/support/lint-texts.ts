import type { CronOptions } from "../../src/core/cron/cron.ts"
import { type Lint, type LintFacts, lintCron } from "../../src/core/cron/lint.ts"
import { parseCron } from "../../src/core/cron/parse.ts"

/** A Thursday. */
export const NOW = Date.UTC(2026, 0, 15)

interface About {
  readonly options?: CronOptions
  readonly facts?: LintFacts
  readonly now?: number
}

/** The lints of an expression as texts: `L01 warn: …`, with `→` and the fix if there is one. */
export function lintTexts(cron: string, { options, facts, now = NOW }: About = {}): readonly string[] {
  const words = ({ code, severity, message, fix }: Lint) =>
    `${code} ${severity}: ${message}${fix === undefined ? "" : ` → ${fix.option} ${fix.value}`}`
  return lintCron(parseCron(cron, options), now, facts).map(words)
}
