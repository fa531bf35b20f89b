import type { Instant } from "../../core/instant.ts"

/** Whether a change makes a schedule due earlier than others expect: then they are given a hint. */
export function isSooner(next: Instant | null, before: Instant | null): boolean {
  return next !== null && (before === null || next < before)
}
