import { type Instant, SECOND } from "./instant.ts"

/** More than two clocks that are both right differ by. */
export const CLOCK_TOLERANCE_MS = 5 * SECOND

/**
 * Those that made a run later than it is now. Only a clock that went back leaves such schedules: they fire nothing more until it has
 * caught up.
 */
export function firedAhead<Fired extends { readonly lastRunAt: Instant | Date | null }>(
  schedules: readonly Fired[],
  now: Instant,
): readonly Fired[] {
  return schedules.filter(({ lastRunAt }) => Number(lastRunAt ?? 0) > now + CLOCK_TOLERANCE_MS)
}
