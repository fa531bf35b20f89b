import { DAY, HOUR, type Instant, MINUTE } from "../time/instant.ts"

/**
 * Named counters that a store adds up: outcomes of runs, durations of attempts and how late they began. They are kept per bucket
 * of time (a minute, an hour, a day) for all runs, for each task and for each schedule.
 */
export type Counters = Readonly<Record<string, number>>

/** Counters that a process adds. They go into one bucket of each span, which is kept for `keptMs`. */
export interface StatisticsAddition {
  readonly subject: string
  readonly spans: readonly StatisticsSpan[]
  /** How long before the call the counting took place. The store's clock then determines the bucket. */
  readonly agoMs: number
  readonly counters: Counters
}

export interface StatisticsSpan {
  readonly ms: number
  readonly keptMs: number
}

export interface StatisticsBucket {
  /** The beginning of the bucket: a multiple of its span. */
  readonly at: Instant
  readonly counters: Counters
}

export function bucketAt(at: Instant, spanMs: number): Instant {
  return Math.floor(at / spanMs) * spanMs
}

export const ALL_RUNS = "all"
export const subjectOfTask = (name: string) => `task:${name}`
export const subjectOfSchedule = (id: string) => `schedule:${id}`

const HOURS: StatisticsSpan = { ms: HOUR, keptMs: 60 * DAY }
const DAYS: StatisticsSpan = { ms: DAY, keptMs: 400 * DAY }

export const SPANS: readonly StatisticsSpan[] = [{ ms: MINUTE, keptMs: DAY }, HOURS, DAYS]

/** There may be many thousands of schedules, so each has fewer buckets. */
export const SCHEDULE_SPANS: readonly StatisticsSpan[] = [
  { ms: HOUR, keptMs: 7 * DAY },
  { ms: DAY, keptMs: 90 * DAY },
]

/** Each is counted once per run or attempt. */
export const OUTCOMES = [
  "created",
  "skipped",
  "succeeded",
  "failed",
  "cancelled",
  "retried",
  "released",
  "lost",
] as const
export type Outcome = (typeof OUTCOMES)[number]

/** The measured values. Each is kept as a sum and as a histogram. */
export type Measure = "duration" | "lateness"

/** The names of two counters: the sum of a measure, and the number of values up to a bound, such as `duration:500`. */
export const sumOf = (measure: Measure) => `${measure}Ms`
export const countUpTo = (measure: Measure, bound: number) => `${measure}:${bound}`

/** 1, 2, 5, 10, … A value counts for the first bound that is not below it, so a quantile is at most 2.5 times too high. */
export const BOUNDS: readonly number[] = Array.from({ length: 10 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat()

export function boundOf(ms: number): number {
  return BOUNDS.find((bound) => ms <= bound) ?? BOUNDS.at(-1)!
}

/** The lowest bound that the given share of the values, such as 0.95, doesn't exceed. Null if there are no values. */
export function quantileOf(counters: Counters, measure: Measure, share: number): number | null {
  const counts = BOUNDS.map((bound) => counters[countUpTo(measure, bound)] ?? 0)
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let seen = 0
  for (const [index, count] of counts.entries()) {
    seen += count
    if (seen >= share * total) return BOUNDS[index]!
  }
  return BOUNDS.at(-1)!
}

/** The mean of a measure. Null if there are no values. */
export function meanOf(counters: Counters, measure: Measure): number | null {
  const total = BOUNDS.reduce((sum, bound) => sum + (counters[countUpTo(measure, bound)] ?? 0), 0)
  return total === 0 ? null : (counters[sumOf(measure)] ?? 0) / total
}

export function addedCounters(a: Counters, b: Counters): Counters {
  const sum: Record<string, number> = { ...a }
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count
  return sum
}
