import type { Instant } from "./instant.ts"
import type { Attempt } from "./run.ts"

/**
 * How long an attempt could have begun and hadn't. It counts from the instant at which the run was due, so neither jitter nor a
 * delay nor a back-off is lateness. A run that was given back keeps its `dueAt`, but nobody could take it while it was held: then
 * it counts from the end of the attempt before. Never negative: a store's clock may be set back between two attempts.
 */
export function latenessMs(
  { dueAt, startedAt }: { readonly dueAt: Instant; readonly startedAt: Instant },
  previous: Pick<Attempt, "endedAt"> | undefined,
): number {
  return Math.max(0, startedAt - Math.max(dueAt, previous?.endedAt ?? dueAt))
}
