import { type Instant, SECOND } from "./instant.ts"
import { countOccurrences, upcomingAfter } from "./occurrence.ts"
import { assertReadable } from "./readable.ts"
import type { Schedule } from "./schedule.ts"

/**
 * Two reads that run into their deadline, and a little more. If nothing could be written either, the loops recover at
 * about the same time; what is older by then belongs to the stored schedule, which knows how many it stands for.
 */
const STAND_IN_GRACE_MS = 15 * SECOND

/**
 * What is fired from memory while the stored schedule can't be read: what is due from `since` on, and only on time. Older
 * occurrences may have been fired by others long ago, even run and forgotten; only the stored schedule knows.
 */
export function standInFor(stored: Schedule, since: Instant): Schedule {
  // What was owed before somebody wrote to it is for the stored schedule to settle.
  const { edits: _, ...schedule } = stored
  try {
    assertReadable(schedule)
    return standIn(schedule, since)
  } catch {
    // The stored schedule says what is wrong with it.
    return { ...schedule, nextRunAt: null }
  }
}

function standIn(schedule: Schedule, since: Instant): Schedule {
  const { coveredUntil, catchUp, paused, enabled } = schedule
  // Others may have fired since it was read. Where `maxRuns` ends it, each occurrence until now counts as if somebody had.
  const unseen =
    schedule.maxRuns === null || coveredUntil === null
      ? 0
      : countOccurrences(schedule, coveredUntil, since, schedule.maxRuns)
  const current = {
    ...schedule,
    coveredUntil: Math.max(coveredUntil ?? since, since),
    firedCount: schedule.firedCount + unseen,
  }
  const next = paused === null && enabled ? upcomingAfter(current, current.coveredUntil) : null
  return {
    ...current,
    catchUp: { ...catchUp, policy: "none", graceMs: STAND_IN_GRACE_MS },
    nextRunAt: next?.dueAt ?? null,
  }
}
