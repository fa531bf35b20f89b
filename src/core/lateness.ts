import type { Instant } from "./instant.ts"
import type { AttemptOutcome, Run } from "./run.ts"

type DatedRun = Pick<Run, "triggeredBy" | "scheduledFor" | "createdAt" | "attempts">

/** After these a run is due again at once. After a failure it waits, and a run's record doesn't say for how long. */
const DUE_AT_ONCE: readonly AttemptOutcome[] = ["released", "lost"]

/**
 * How long after it was due an attempt began; never negative. The first attempt of an occurrence is due at its nominal instant,
 * that of any other run at its creation. A later one is due when the attempt before it was given back or lost. After a back-off
 * it counts as on time.
 */
export function latenessMs(run: DatedRun, startedAt: Instant): number {
  const previous = run.attempts.at(-1)
  if (previous === undefined) return firstLatenessMs(run, startedAt)
  return DUE_AT_ONCE.includes(previous.outcome) ? Math.max(0, startedAt - previous.endedAt) : 0
}

/** Of a run's first attempt. */
export function firstLatenessMs(run: Omit<DatedRun, "attempts">, startedAt: Instant): number {
  const isOccurrence = run.triggeredBy === "schedule" || run.triggeredBy === "catchup"
  return Math.max(0, startedAt - ((isOccurrence ? run.scheduledFor : null) ?? run.createdAt))
}
