import type { Instant } from "./instant.ts"

/** How often a worker is heard of: three times a lease while it holds runs, else once a poll. */
export interface Rhythm {
  /** The longest lease among its tasks. */
  readonly leaseMs: number
  readonly pollMs: number
}

/**
 * For how long a worker has been silent, or null while it isn't later than it may be. One that held runs is missed when
 * their leases have ended, since others take them over then; an idle one has a lease's time beyond its next beat, for
 * pauses of the process and answers under way.
 */
export function silentForMs(
  worker: { readonly heartbeatAt: Instant; readonly running: number },
  { leaseMs, pollMs }: Rhythm,
  now: Instant,
): number | null {
  const ageMs = now - worker.heartbeatAt
  const allowedMs = worker.running > 0 ? leaseMs : pollMs + leaseMs
  return ageMs > allowedMs ? ageMs : null
}
