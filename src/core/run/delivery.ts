import type { Attempt } from "./run.ts"

/**
 * What happens to a run if its worker is lost during an attempt. `at-least-once`: the run is performed again.
 * `at-most-once`: it isn't, even though it may be half done.
 */
export type Delivery = "at-least-once" | "at-most-once"

/**
 * Whether an earlier attempt may have begun with an unknown result. Workers confirm every attempt except the first before it
 * begins, so a later unconfirmed attempt did not begin. A run that was released, or retried by a person, may begin again.
 */
export function mayHaveBegun({ attempts }: { readonly attempts: readonly Attempt[] }): boolean {
  const last = attempts.findLast(({ attempt, outcome }) => attempt === 1 || outcome !== "unconfirmed")
  return last?.outcome === "lost" || last?.outcome === "unconfirmed"
}

export const NOT_REPEATED =
  "An attempt was lost with its worker and may have begun, and its task is performed at most once."
