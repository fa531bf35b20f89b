import type { Attempt } from "./run.ts"

/**
 * How often a run is performed where a worker is lost in the middle of it: again until one ends it, or not again, though it may be
 * half done.
 */
export type Delivery = "at-least-once" | "at-most-once"

/**
 * Whether an earlier attempt may have begun, and nobody knows how far it came. Every attempt but the first is confirmed before it
 * begins: one that wasn't didn't. What was given back on purpose, or tried again by a person, may begin.
 */
export function mayHaveBegun({ attempts }: { readonly attempts: readonly Attempt[] }): boolean {
  const last = attempts.findLast(({ attempt, outcome }) => attempt === 1 || outcome !== "unconfirmed")
  return last?.outcome === "lost" || last?.outcome === "unconfirmed"
}

export const NOT_REPEATED =
  "An attempt was lost with its worker and may have begun, and its task is performed at most once."
