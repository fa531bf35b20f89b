import type { Instant } from "../core/instant.ts"

/**
 * Many schedules that are due at one instant. To fire them takes longer than anybody wants to wait for the last of them, so
 * they are fired a little before: their runs wait in the store for the instant, and by then only have to be claimed.
 */
export interface Herd {
  readonly at: Instant
  /** How long before it their firing begins. */
  readonly leadMs: number
}

/** Fewer than this are fired when they are due, like anything else. */
const HERD_MIN = 50
/** Ten times what it takes on a machine that does nothing else. */
const LEAD_MS_EACH = 2
/** Whoever pauses or edits one of them later than this before its instant is late for that occurrence. */
const LEAD_MAX_MS = 1_000

/** A timer may ring a moment early; who then looked ahead not at all would have looked in vain. */
const EARLY_MS = 2
/** Nothing is fired longer before its instant. */
export const AHEAD_MAX_MS = LEAD_MAX_MS + EARLY_MS

/** Null if they are too few. */
export function herdOf(at: Instant, count: number): Herd | null {
  return count < HERD_MIN ? null : { at, leadMs: Math.min(count * LEAD_MS_EACH, LEAD_MAX_MS) }
}

/** How far ahead schedules are to be read now: to the herd's instant, once the time to fire it has begun. */
export function aheadMsTo(herd: Herd | null, now: Instant): number {
  if (herd === null || herd.at - now > herd.leadMs + EARLY_MS) return 0
  return Math.max(0, Math.ceil(herd.at - now))
}
