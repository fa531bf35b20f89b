import { type Checked, checked, type OptionSource, type OptionType } from "../core/options/checked.ts"
import { LOOKUP, taskOr } from "../core/options/limits.ts"
import { choice, instant } from "../core/options/option-types.ts"
import type { When } from "../core/options/options.ts"
import {
  ALL_RUNS,
  addedCounters,
  bucketAt,
  type Counters,
  type Measure,
  meanOf,
  OUTCOMES,
  type Outcome,
  quantileOf,
  subjectOfSchedule,
  subjectOfTask,
} from "../core/records/statistics.ts"
import { DAY, HOUR, type Instant, MINUTE } from "../core/time/instant.ts"
import type { Store } from "../store/store.ts"
import type { AnyTask } from "../task/task.ts"

export interface StatisticsQuery {
  /** The runs of one schedule or one task. Default: all runs. */
  readonly schedule?: string
  readonly task?: AnyTask | string
  /** Default: one day before `until`. */
  readonly since?: When
  readonly until?: When
  /**
   * The length of a bucket. Default: a minute for ranges up to three hours, an hour up to a week, otherwise a day. Statistics
   * of a schedule have no minutes.
   */
  readonly span?: StatisticsSpanName
}

export type StatisticsSpanName = "minute" | "hour" | "day"

const SPAN_MS: Readonly<Record<StatisticsSpanName, number>> = { minute: MINUTE, hour: HOUR, day: DAY }

export const STATISTICS_QUERY = {
  schedule: LOOKUP,
  task: taskOr(LOOKUP),
  since: instant,
  until: instant,
  span: choice<StatisticsSpanName>("minute", "hour", "day"),
} satisfies Record<keyof StatisticsQuery, OptionType<unknown>>

/** How many runs had which outcome, how long attempts took, and how late they began. */
export interface RunStatistics extends Readonly<Record<Outcome, number>> {
  readonly duration: MeasureView
  readonly lateness: MeasureView
}

/**
 * Mean and quantiles in milliseconds. Null: nothing was measured. Quantiles are rounded up to 1, 2, 5, 10, …: at most 2.5 times
 * too high.
 */
export interface MeasureView {
  readonly meanMs: number | null
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly p99Ms: number | null
}

export interface StatisticsView {
  readonly span: StatisticsSpanName
  /** Of the whole range. */
  readonly total: RunStatistics
  /** The buckets that are not empty, oldest first. */
  readonly buckets: readonly (RunStatistics & { readonly at: Date })[]
}

/**
 * Processes write their counters with each heartbeat. So the counters lag by up to one heartbeat, and a killed process loses
 * its last.
 */
export async function readStatistics(store: Store, query: StatisticsQuery): Promise<StatisticsView> {
  const given = checked(query, STATISTICS_QUERY, SOURCE)
  const until = given.until ?? (await store.now())
  const since = given.since ?? until - DAY
  const span = given.span ?? spanFor(until - since, given.schedule !== undefined)
  const spanMs = SPAN_MS[span]
  const buckets = await store.summarise({
    subject: subjectOf(given),
    spanMs,
    from: bucketAt(since, spanMs),
    until: until + 1,
    limit: BUCKETS_MAX,
  })
  const total = buckets.reduce<Counters>((sum, { counters }) => addedCounters(sum, counters), {})
  return {
    span,
    total: viewOf(total),
    buckets: buckets.map(({ at, counters }) => ({ at: new Date(at as Instant), ...viewOf(counters) })),
  }
}

/** More than a store ever keeps. */
const BUCKETS_MAX = 2_000

const SOURCE: OptionSource = { code: "BELFRY_SCHEDULER_INVALID", subject: "statistics" }

function spanFor(ms: number, isOfSchedule: boolean): StatisticsSpanName {
  if (ms <= 3 * HOUR && !isOfSchedule) return "minute"
  return ms <= 7 * DAY ? "hour" : "day"
}

/** `schedule` takes precedence over `task`. */
function subjectOf({ schedule, task }: Checked<typeof STATISTICS_QUERY>): string {
  if (schedule !== undefined) return subjectOfSchedule(schedule)
  return task === undefined ? ALL_RUNS : subjectOfTask(task)
}

function viewOf(counters: Counters): RunStatistics {
  const counts = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, counters[outcome] ?? 0]))
  return {
    ...(counts as Record<Outcome, number>),
    duration: measureOf(counters, "duration"),
    lateness: measureOf(counters, "lateness"),
  }
}

function measureOf(counters: Counters, measure: Measure): MeasureView {
  const mean = meanOf(counters, measure)
  return {
    meanMs: mean === null ? null : Math.round(mean),
    p50Ms: quantileOf(counters, measure, 0.5),
    p95Ms: quantileOf(counters, measure, 0.95),
    p99Ms: quantileOf(counters, measure, 0.99),
  }
}
