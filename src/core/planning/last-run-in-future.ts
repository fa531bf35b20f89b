import { type Instant, SECOND } from "../time/instant.ts"

/** More than the difference between two synchronized clocks. */
export const CLOCK_TOLERANCE_MS = 5 * SECOND

/**
 * The schedules with a last run in the future. This happens only after the store's clock went back. Such a schedule fires
 * nothing until the clock has caught up.
 */
export function withLastRunInFuture<Fired extends { readonly lastRunAt: Instant | Date | null }>(
  schedules: readonly Fired[],
  now: Instant,
): readonly Fired[] {
  return schedules.filter(({ lastRunAt }) => Number(lastRunAt ?? 0) > now + CLOCK_TOLERANCE_MS)
}
