import type { Instant } from "./instant.ts"

/**
 * Within what time a worker says that it beats again. One that holds runs beats three times a lease, and is missed when their leases
 * have ended, since others take them over then. An idle one beats once a poll, and has a lease's time beyond that, for pauses of the
 * process and answers under way.
 */
export function nextBeatInMs(
  { leaseMs, pollMs }: { readonly leaseMs: number; readonly pollMs: number },
  isHolding: boolean,
): number {
  return isHolding ? leaseMs : pollMs + leaseMs
}

/** For how long a worker has been silent, or null until its next heartbeat should have come. */
export function silentForMs(
  { heartbeatAt, expectedBy }: { readonly heartbeatAt: Instant; readonly expectedBy: Instant },
  now: Instant,
): number | null {
  return now > expectedBy ? now - heartbeatAt : null
}
