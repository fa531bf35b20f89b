import { planFire } from "./fire.ts"
import { type Instant, SECOND } from "./instant.ts"
import { upcomingAfter } from "./occurrence.ts"
import { type FireFacts, type Plan, ranIn } from "./plan.ts"
import { assertReadable } from "./readable.ts"
import type { Schedule } from "./schedule.ts"

/**
 * Three reads that run into their deadline, and a little more. What is older by then belongs to the stored schedule, which knows how
 * many it stands for.
 */
const STAND_IN_GRACE_MS = 20 * SECOND

/** What is fired from memory while the stored schedule can't be read. */
export interface StandIn {
  /** In the form it is planned by: what is due from then on, and only on time. */
  readonly schedule: Schedule
  /** Plans read records after this instant, because other processes fire from memory, too. Null: not needed. */
  readonly recordedAfter: Instant | null
  /** What may have been fired between the last read and then, and isn't in `firedCount` yet. */
  readonly uncounted: { readonly after: Instant; readonly until: Instant } | null
}

/**
 * Goes on from `since`, when schedules were last read. Older occurrences may have been fired by others long ago, even run and
 * forgotten; only the stored schedule knows.
 */
export function standInFor(stored: Schedule, since: Instant): StandIn {
  // What was owed before somebody wrote to it is for the stored schedule to settle.
  const { edits: _, ...schedule } = stored
  try {
    assertReadable(schedule)
    return standIn(schedule, since)
  } catch {
    // The stored schedule says what is wrong with it.
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

/** What the stand-in owes at `now`. `facts.recorded` has what it asks for by `recordedAfter`. */
export function planStandIn({ schedule, uncounted }: StandIn, facts: FireFacts, now: Instant): Plan {
  const ran = uncounted === null ? 0 : ranIn(facts, uncounted.after, uncounted.until)
  return planFire({ ...schedule, firedCount: schedule.firedCount + ran }, facts, now)
}

/** After that plan; null if it was its last. What the plan settled is counted, so records are read only from there on. */
export function standInAfter(standIn: StandIn, { progress }: Plan): StandIn | null {
  if (progress === null) return null
  const schedule = { ...standIn.schedule, ...progress }
  const settled = (progress.coveredUntil ?? 0) - schedule.spacingMs
  const recordedAfter = standIn.recordedAfter === null ? null : Math.max(standIn.recordedAfter, settled)
  return { schedule, recordedAfter, uncounted: null }
}
