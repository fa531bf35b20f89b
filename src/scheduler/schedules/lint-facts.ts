import type { LintFacts } from "../../core/cron/lint.ts"
import {
  addedCounters,
  BOUNDS,
  bucketAt,
  type Counters,
  quantileOf,
  subjectOfSchedule,
} from "../../core/records/statistics.ts"
import type { Schedule } from "../../core/schedule/schedule.ts"
import { DAY, type Instant, MINUTE } from "../../core/time/instant.ts"
import type { Store } from "../../store/store.ts"

/** Durations are computed from the runs of this period. */
const HISTORY_MS = 7 * DAY
/** With fewer runs the durations are not reliable. */
const RUNS_MIN = 20
/** The limit for counting schedules of the same minute. */
const SAME_MINUTE_MAX = 1_000

/** The facts that a lint needs beside the expression. */
export async function lintFactsOf(store: Store, schedule: Schedule, now: Instant): Promise<LintFacts> {
  const { endsAt, maxRuns, firedCount } = schedule
  const duration = await durationOf(store, schedule, now)
  const others = await sameMinute(store, schedule)
  return {
    ...(endsAt === null ? {} : { until: endsAt }),
    ...(maxRuns === null ? {} : { runsLeft: Math.max(0, maxRuns - firedCount) }),
    ...(duration === null ? {} : { duration }),
    ...(others === null ? {} : { sameMinute: { others } }),
  }
}

/** Uses the lower bounds of the histogram, so that a lint never overstates a duration. */
async function durationOf(
  store: Store,
  { id, overlap }: Schedule,
  now: Instant,
): Promise<NonNullable<LintFacts["duration"]> | null> {
  const buckets = await store.summarise({
    ...{ subject: subjectOfSchedule(id), spanMs: DAY, limit: 10 },
    ...{ from: bucketAt(now - HISTORY_MS, DAY), until: now + 1 },
  })
  const sum = buckets.reduce<Counters>((all, { counters }) => addedCounters(all, counters), {})
  if ((sum["succeeded"] ?? 0) + (sum["failed"] ?? 0) < RUNS_MIN) return null
  const [p50, p95] = [quantileOf(sum, "duration", 0.5), quantileOf(sum, "duration", 0.95)]
  if (p50 === null || p95 === null) return null
  return { p50Ms: lowerBound(p50), p95Ms: lowerBound(p95), overlap: overlap.policy }
}

function lowerBound(bound: number): number {
  return BOUNDS[BOUNDS.indexOf(bound) - 1] ?? 0
}

/** How many other schedules run next in the same minute. Null: the schedule has no next run. */
async function sameMinute(store: Store, { id, nextRunAt }: Schedule): Promise<number | null> {
  if (nextRunAt === null) return null
  const from = Math.floor(nextRunAt / MINUTE) * MINUTE
  const after = { at: from - 1, id: "~" }
  const next = await store.findSchedules({}, { orderBy: "nextRunAt", after, limit: SAME_MINUTE_MAX })
  const isInMinute = (at: Instant | null) => at !== null && at >= from && at < from + MINUTE
  return next.filter((each) => each.id !== id && isInMinute(each.nextRunAt)).length
}
