import { assertPlannable } from "../records/plannable-schedule.ts"
import type { Schedule } from "../schedule/schedule.ts"
import { type Instant, SECOND } from "../time/instant.ts"
import { planFire } from "./fire.ts"
import { upcomingAfter } from "./occurrence.ts"
import { type FireFacts, type Plan, ranIn } from "./plan.ts"

/**
 * Longer than three reads that fail at their deadline. Older occurrences are left to the stored schedule, which knows how many
 * a catch-up run stands for.
 */
const STAND_IN_GRACE_MS = 20 * SECOND

/** A schedule that is fired from memory while the stored one can't be read. */
export interface StandIn {
  /** The schedule to plan: only occurrences from the last read on, and only on time. */
  readonly schedule: Schedule
  /** Plans need the records after this instant, because other processes fire from memory too. Null: not needed. */
  readonly recordedAfter: Instant | null
  /** The time in which runs may have been fired that are not in `firedCount` yet. */
  readonly uncounted: { readonly after: Instant; readonly until: Instant } | null
}

/**
 * Continues from `since`, when schedules were last read. Other processes may have fired older occurrences long ago, and their
 * runs may be pruned: only the stored schedule knows.
 */
export function standInFor(stored: Schedule, since: Instant): StandIn {
  // The stored schedule settles what was owed before the edits.
  const { edits: _, ...schedule } = stored
  try {
    assertPlannable(schedule)
    return standIn(schedule, since)
  } catch {
    // The `lastError` of the stored schedule will say what is wrong.
    return { schedule: { ...schedule, nextRunAt: null }, recordedAfter: null, uncounted: null }
  }
}

function standIn(schedule: Schedule, since: Instant): StandIn {
  const { catchUp, paused, enabled, maxRuns, spacingMs } = schedule
  const readUntil = schedule.coveredUntil ?? since
  const current = { ...schedule, coveredUntil: Math.max(readUntil, since) }
  const next = paused === null && enabled ? upcomingAfter(current, current.coveredUntil) : null
  return {
    schedule: {
      ...current,
      catchUp: { ...catchUp, policy: "none", graceMs: STAND_IN_GRACE_MS },
      nextRunAt: next?.dueAt ?? null,
    },
    recordedAfter: maxRuns === null && spacingMs === 0 ? null : Math.min(readUntil, since - spacingMs),
    uncounted: { after: readUntil, until: current.coveredUntil },
  }
}

/** The plan of the stand-in at `now`. `facts.recorded` must contain the records after `recordedAfter`. */
export function planStandIn({ schedule, uncounted }: StandIn, facts: FireFacts, now: Instant): Plan {
  const ran = uncounted === null ? 0 : ranIn(facts, uncounted.after, uncounted.until)
  return planFire({ ...schedule, firedCount: schedule.firedCount + ran }, facts, now)
}

/** The stand-in after a plan. Null if it was the last plan. Settled runs are counted, so records are needed only after them. */
export function standInAfter(standIn: StandIn, { progress }: Plan): StandIn | null {
  if (progress === null) return null
  const schedule = { ...standIn.schedule, ...progress }
  const settled = (progress.coveredUntil ?? 0) - schedule.spacingMs
  const recordedAfter = standIn.recordedAfter === null ? null : Math.max(standIn.recordedAfter, settled)
  return { schedule, recordedAfter, uncounted: null }
}
