import type { LintFacts } from "../../core/cron/lint.ts"
import { DAY, type Instant, MINUTE } from "../../core/instant.ts"
import type { Schedule } from "../../core/schedule.ts"
import {
  addedCounters,
  BOUNDS,
  bucketAt,
  type Counters,
  quantileOf,
  subjectOfSchedule,
} from "../../core/statistics.ts"
import type { Store } from "../../store/store.ts"

/** How far back it is looked how long runs take. */
const LOOKED_BACK_MS = 7 * DAY
/** Of fewer runs nothing is known. */
const RUNS_MIN = 20
/** As many as are worth telling apart. */
const CROWD_MAX = 1_000

/** What an expression can't know about itself. */
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

/** The lower bounds: what is told of them is true. */
async function durationOf(
  store: Store,
  { id, overlap }: Schedule,
  now: Instant,
): Promise<NonNullable<LintFacts["duration"]> | null> {
  const buckets = await store.summarise({
    ...{ subject: subjectOfSchedule(id), spanMs: DAY, limit: 10 },
    ...{ from: bucketAt(now - LOOKED_BACK_MS, DAY), until: now + 1 },
  })
  const sum = buckets.reduce<Counters>((all, { counters }) => addedCounters(all, counters), {})
  if ((sum["succeeded"] ?? 0) + (sum["failed"] ?? 0) < RUNS_MIN) return null
  const [p50, p95] = [quantileOf(sum, "duration", 0.5), quantileOf(sum, "duration", 0.95)]
  if (p50 === null || p95 === null) return null
  return { p50Ms: boundBelow(p50), p95Ms: boundBelow(p95), overlap: overlap.policy }
}

function boundBelow(bound: number): number {
  return BOUNDS[BOUNDS.indexOf(bound) - 1] ?? 0
}

/** How many others come next in the same minute; null if it doesn't come again. */
async function sameMinute(store: Store, { id, nextRunAt }: Schedule): Promise<number | null> {
  if (nextRunAt === null) return null
  const from = Math.floor(nextRunAt / MINUTE) * MINUTE
  const after = { at: from - 1, id: "~" }
  const next = await store.findSchedules({}, { orderBy: "nextRunAt", after, limit: CROWD_MAX })
  const isThen = (at: Instant | null) => at !== null && at >= from && at < from + MINUTE
  return next.filter((each) => each.id !== id && isThen(each.nextRunAt)).length
}
