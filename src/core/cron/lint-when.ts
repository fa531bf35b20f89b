import { DAY, type Instant } from "../instant.ts"
import type { Cron } from "./cron.ts"
import type { Lint } from "./lint.ts"
import { nextOccurrence } from "./search.ts"
import { dateWords, wallAt } from "./wall-words.ts"
import { countOf } from "./words.ts"

const FIVE_YEARS = 5 * 365.25 * DAY

/** L03: what never matches is refused when it is read; what matches only in many years is nearly always a slip. */
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

/** One a minute. */
const RUNS_PER_DAY = 1_440
const MONTH_DAYS = 30

/** L12: more than one run a minute is a lot of history. */
export function lintFrequency(cron: Cron, now: Instant, logBytesPerRun: number | undefined): Lint | null {
  const perDay = runsPerDay(cron)
  if (perDay <= RUNS_PER_DAY) return null
  const runs = countOf(Math.round(perDay), "run")
  if (logBytesPerRun === undefined) {
    return { code: "L12", severity: "info", message: `Makes ${runs} on each day it runs.` }
  }
  const perMonth = perDay * daysWithRuns(cron, now) * logBytesPerRun
  return {
    code: "L12",
    severity: "info",
    message: `Makes ${runs} on each day it runs: about ${bytesWords(perMonth)} of logs in the next ${MONTH_DAYS} days at their present size.`,
  }
}

function runsPerDay(cron: Cron): number {
  return cron.kind === "interval"
    ? DAY / cron.everyMs
    : cron.second.values.length * cron.minute.values.length * cron.hour.values.length
}

function daysWithRuns(cron: Cron, now: Instant): number {
  let days = 0
  for (let day = 0; day < MONTH_DAYS; day++) {
    const from = now + day * DAY
    const next = nextOccurrence(cron, from)
    if (next !== null && next <= from + DAY) days++
  }
  return days
}

const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"]

function bytesWords(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), BYTE_UNITS.length - 1)
  const count = bytes / 1024 ** power
  return `${count < 10 ? Math.round(count * 10) / 10 : Math.round(count)} ${BYTE_UNITS[power]}`
}
