import { formatDuration } from "../time/duration.ts"
import { DAY, formatInstant, type Instant } from "../time/instant.ts"
import type { Cron } from "./cron.ts"
import type { Lint, LintFacts } from "./lint.ts"
import { nextOccurrence } from "./search.ts"
import { countOf } from "./words.ts"

/** The lints that need facts beyond the expression: the duration of its runs, other schedules, its end. */
export function lintFacts(cron: Cron, now: Instant, facts: LintFacts): readonly (Lint | null)[] {
  return [lintSharedMinute(facts), lintDuration(cron, now, facts), lintEnd(cron, now, facts)]
}

/** With fewer other schedules in the same minute there is no lint. */
const SHARED_MINUTE_MIN = 10

function lintSharedMinute({ sameMinute }: LintFacts): Lint | null {
  if (sameMinute === undefined || sameMinute.others < SHARED_MINUTE_MIN) return null
  const others = countOf(sameMinute.others, "other schedule")
  const message = `${others} start in the same minute. Set a jitter to spread them.`
  return { code: "L06", severity: "info", message, fix: { option: "jitter", value: "1m" } }
}

/** Enough to find the shortest gap of any pattern that people write, and cheap. */
const GAPS_SAMPLED = 50

function lintDuration(cron: Cron, now: Instant, { duration }: LintFacts): Lint | null {
  if (duration === undefined || duration.overlap !== "skip") return null
  const gapMs = shortestGap(cron, now)
  if (gapMs === null || duration.p95Ms <= gapMs) return null
  const { p50Ms = 0, p95Ms } = duration
  // During a run of duration d, the occurrences at g, 2g, … before d are skipped (g: the gap).
  const skipped = (ms: number) => Math.ceil(ms / gapMs) - 1
  const outcome =
    p50Ms > gapMs
      ? `about ${skipped(p50Ms)} in ${skipped(p50Ms) + 1} occurrences will be skipped`
      : `such a run causes the next ${skipped(p95Ms) === 1 ? "occurrence" : countOf(skipped(p95Ms), "occurrence")} to be skipped`
  return {
    code: "L07",
    severity: "warn",
    message: `One run in twenty takes longer than ${formatDuration(p95Ms)}, but the next is due after ${formatDuration(gapMs)} and overlap is "skip": ${outcome}.`,
  }
}

/** The shortest time between two of the next occurrences. Null: there are fewer than two. */
export function shortestGap(cron: Cron, now: Instant): number | null {
  let shortest = Number.POSITIVE_INFINITY
  let at = nextOccurrence(cron, now)
  for (let count = 0; at !== null && count < GAPS_SAMPLED; count++) {
    const next = nextOccurrence(cron, at)
    if (next === null) break
    shortest = Math.min(shortest, next - at)
    at = next
  }
  return Number.isFinite(shortest) ? shortest : null
}

const SOON = 30 * DAY

function lintEnd(cron: Cron, now: Instant, facts: LintFacts): Lint | null {
  const { until, runsLeft } = facts
  const lastAt = runsLeft === undefined ? null : lastRunBefore(cron, now, { runsLeft, end: now + SOON })
  const ends = [until, lastAt].filter((at) => typeof at === "number" && at <= now + SOON) as Instant[]
  if (ends.length === 0) return null
  const endsAt = Math.min(...ends)
  const message =
    endsAt < now
      ? `It ended at ${formatInstant(endsAt)}.`
      : `It ends within 30 days, at ${formatInstant(endsAt)}.`
  return { code: "L11", severity: "info", message }
}

/** A schedule that runs every minute has 43,200 runs in 30 days. A higher number of runs is not counted through. */
const RUNS_WALKED_MAX = 50_000

/** When the last of `runsLeft` runs is due, or null if there are too many to count. The search stops after `end`. */
function lastRunBefore(
  cron: Cron,
  now: Instant,
  { runsLeft, end }: { runsLeft: number; end: Instant },
): Instant | null {
  if (runsLeft > RUNS_WALKED_MAX) return null
  let at: Instant | null = now
  for (let count = 0; count < runsLeft && at !== null && at <= end; count++) at = nextOccurrence(cron, at)
  return at
}
