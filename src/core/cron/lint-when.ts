import { DAY, type Instant } from "../time/instant.ts"
import type { Cron } from "./cron.ts"
import type { Lint } from "./lint.ts"
import { nextOccurrence } from "./search.ts"
import { dateWords, wallAt } from "./wall-words.ts"
import { countOf } from "./words.ts"

const FIVE_YEARS = 5 * 365.25 * DAY

/** L03: an expression that next matches in more than five years is nearly always a mistake. (The parser refuses "never".) */
export function lintFarAway(cron: Cron, now: Instant): Lint | null {
  const next = nextOccurrence(cron, now)
  if (next !== null && next <= now + FIVE_YEARS) return null
  const when =
    next === null
      ? "never again"
      : cron.kind === "interval"
        ? dateWords(next)
        : dateWords(wallAt(cron.zone, next))
  return { code: "L03", severity: "error", message: `Doesn't run within five years. Next: ${when}.` }
}

/** One run a minute. */
const RUNS_PER_DAY_MAX = 1_440

/** L10: more than one run a minute produces a lot of history. */
export function lintFrequency(cron: Cron): Lint | null {
  const perDay = runsPerDay(cron)
  if (perDay <= RUNS_PER_DAY_MAX) return null
  return {
    code: "L10",
    severity: "info",
    message: `Makes ${countOf(Math.round(perDay), "run")} on each day it runs.`,
  }
}

function runsPerDay(cron: Cron): number {
  return cron.kind === "interval"
    ? DAY / cron.everyMs
    : cron.second.values.length * cron.minute.values.length * cron.hour.values.length
}
