import type { Instant } from "../time/instant.ts"

/**
 * How soon the next heartbeat of a worker must arrive. A worker that holds runs sends three heartbeats per lease. It counts as
 * silent when the leases have ended, because other workers take over its runs then. An idle worker sends one heartbeat per poll
 * and has one lease more, for pauses of the process and slow responses.
 */
export function nextBeatInMs(
  { leaseMs, pollMs }: { readonly leaseMs: number; readonly pollMs: number },
  isHolding: boolean,
): number {
  return isHolding ? leaseMs : pollMs + leaseMs
}

/** How long a worker has been silent. Null if its next heartbeat is not overdue. */
export function silentForMs(
  { heartbeatAt, expectedBy }: { readonly heartbeatAt: Instant; readonly expectedBy: Instant },
  now: Instant,
): number | null {
  return now > expectedBy ? now - heartbeatAt : null
}
