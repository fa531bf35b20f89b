import type { Instant } from "../../core/instant.ts"

/** Whether a change makes a schedule due earlier than other processes expect. They then get a hint. */
export function isSooner(next: Instant | null, before: Instant | null): boolean {
  return next !== null && (before === null || next < before)
}
