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
import { ACTIVE_STATES } from "../../core/schedule/schedule-state.ts"
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
  const { nextRunAt } = schedule
  return factsFrom(schedule, {
    counters: await weekOf(store, subjectOfSchedule(schedule.id), now),
    sharing: nextRunAt === null ? null : await countInMinute(store, minuteOf(nextRunAt)),
  })
}

/**
 * `counters`: the statistics of the schedule, or none if its durations don't matter. `sharing`: how many schedules, including
 * this one, run next in its minute. Null: it has no next run.
 */
export function factsFrom(
  { endsAt, maxRuns, firedCount, overlap }: Schedule,
  { counters, sharing }: { counters: Counters; sharing: number | null },
): LintFacts {
  const duration = durationOf(counters)
  return {
    ...(endsAt === null ? {} : { until: endsAt }),
    ...(maxRuns === null ? {} : { runsLeft: Math.max(0, maxRuns - firedCount) }),
    ...(duration === null ? {} : { duration: { ...duration, overlap: overlap.policy } }),
    ...(sharing === null ? {} : { sameMinute: { others: sharing - 1 } }),
  }
}

/** The sum of the last days. */
export async function weekOf(store: Store, subject: string, now: Instant): Promise<Counters> {
  const buckets = await store.summarise({
    ...{ subject, spanMs: DAY, limit: 10 },
    ...{ from: bucketAt(now - HISTORY_MS, DAY), until: now + 1 },
  })
  return buckets.reduce<Counters>((all, { counters }) => addedCounters(all, counters), {})
}

function durationOf(counters: Counters): { p50Ms: number; p95Ms: number } | null {
  if ((counters["succeeded"] ?? 0) + (counters["failed"] ?? 0) < RUNS_MIN) return null
  const [p50Ms, p95Ms] = [atLeastMs(counters, 0.5), atLeastMs(counters, 0.95)]
  return p50Ms === null || p95Ms === null ? null : { p50Ms, p95Ms }
}

/** The lower bound of a quantile of the durations, so that a lint never overstates a duration. Null: nothing was measured. */
export function atLeastMs(counters: Counters, share: number): number | null {
  const bound = quantileOf(counters, "duration", share)
  return bound === null ? null : (BOUNDS[BOUNDS.indexOf(bound) - 1] ?? 0)
}

export function minuteOf(at: Instant): Instant {
  return Math.floor(at / MINUTE) * MINUTE
}

/** How many active schedules run next in this minute, counted up to the limit. */
export async function countInMinute(store: Store, minute: Instant): Promise<number> {
  const after = { at: minute - 1, id: "~" }
  const filter = { states: ACTIVE_STATES }
  const next = await store.findSchedules(filter, { orderBy: "nextRunAt", after, limit: SAME_MINUTE_MAX })
  return next.filter(({ nextRunAt }) => nextRunAt !== null && minuteOf(nextRunAt) === minute).length
}
