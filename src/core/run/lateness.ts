import type { Instant } from "../time/instant.ts"
import type { Attempt } from "./run.ts"

/**
 * How long after its due time an attempt was started. It counts from the run's `dueAt`, so jitter, a delay and a back-off are not
 * lateness. A released run keeps its `dueAt`, but no worker could claim it while it was held: then it counts from the end of
 * the previous attempt. Never negative: the store's clock may go back between two attempts.
 */
export function latenessMs(
  { dueAt, startedAt }: { readonly dueAt: Instant; readonly startedAt: Instant },
  previous: Pick<Attempt, "endedAt"> | undefined,
): number {
  return Math.max(0, startedAt - Math.max(dueAt, previous?.endedAt ?? dueAt))
}
