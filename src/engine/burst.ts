import type { Instant } from "../core/time/instant.ts"

/**
 * Many schedules that are due at one instant. Firing them takes so long that the last one would be late, so they are fired a
 * little earlier. Their runs wait in the store for the instant, and then only have to be claimed.
 */
export interface Burst {
  readonly at: Instant
  /** How long before the instant the firing begins. */
  readonly leadMs: number
}

/** Fewer schedules than this are fired when they are due. */
const BURST_MIN = 50
/** Per schedule: ten times the cost of firing it on an idle machine. */
const LEAD_MS_EACH = 2
/** A pause or an edit less than this before the instant may come too late for that occurrence. */
const LEAD_MAX_MS = 1_000

/** Timers can fire about 1 ms early. Without this tolerance an early wake-up reads nothing ahead and is wasted. */
const EARLY_MS = 2
/** No schedule is fired earlier than this before its instant. */
export const AHEAD_MAX_MS = LEAD_MAX_MS + EARLY_MS

/** Null: too few schedules. */
export function burstOf(at: Instant, count: number): Burst | null {
  return count < BURST_MIN ? null : { at, leadMs: Math.min(count * LEAD_MS_EACH, LEAD_MAX_MS) }
}

/** How far ahead schedules are read now: to the instant of the burst once its lead has begun, otherwise 0. */
export function aheadMsTo(burst: Burst | null, now: Instant): number {
  if (burst === null || burst.at - now > burst.leadMs + EARLY_MS) return 0
  return Math.max(0, Math.ceil(burst.at - now))
}
