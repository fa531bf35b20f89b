import type { Attempt, Run } from "./run.ts"

/**
 * What happens to a run if its worker is lost during an attempt. `at-least-once`: the run is performed again.
 * `at-most-once`: it isn't, even though it may be half done.
 */
export type Delivery = "at-least-once" | "at-most-once"

/**
 * Whether a worker must confirm an attempt before it performs the run. The first attempt skips this to save a round trip, unless
 * an attempt that was lost decides whether the run is performed at all.
 */
export function mustBeConfirmed({ attempt }: Pick<Run, "attempt">, delivery: Delivery): boolean {
  return attempt > 1 || delivery === "at-most-once"
}

/**
 * Whether an attempt at a run of an at-most-once task may have begun with an unknown result: its worker was lost, or an operator
 * took the run away from it. Each attempt at such a run is confirmed before it begins, so an unconfirmed attempt did not begin. Nor
 * did a released one, and neither says anything about the attempts before it. A given-up attempt ended the run, so a person has
 * retried it since.
 */
export function mayHaveBegun({ attempts }: { readonly attempts: readonly Attempt[] }): boolean {
  const last = attempts.findLast(({ outcome }) => outcome !== "unconfirmed" && outcome !== "released")
  return last?.outcome === "lost" || last?.outcome === "taken-away"
}

export const NOT_REPEATED =
  "An earlier attempt, whose result is unknown, may have begun, and its task is performed at most once."
