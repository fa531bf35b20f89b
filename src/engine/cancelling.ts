import { cancel, type RunChange } from "../core/run/run.ts"
import type { Store } from "../store/store.ts"

/** A run may change again before each try, so the tries are limited. */
const TRIES = 3

/** Cancels runs that others replace. A run that has changed since it was read (a worker claimed it) is read again. */
export async function cancelAll(store: Store, cancels: readonly RunChange[]): Promise<void> {
  let rest = cancels
  for (let tries = 0; rest.length > 0 && tries < TRIES; tries++) {
    const answers = await store.transition(rest)
    rest = await refreshed(
      store,
      rest.filter((_, index) => answers[index]!.outcome === "stale"),
    )
  }
}

/** The cancels for the runs as they are now. Finished runs need none. */
async function refreshed(store: Store, stale: readonly RunChange[]): Promise<readonly RunChange[]> {
  if (stale.length === 0) return []
  const causes = new Map(stale.map(({ runId, reason, by }) => [runId, { reason, by }]))
  const page = { orderBy: "createdAt", after: null, limit: stale.length } as const
  const runs = await store.findRuns({ ids: [...causes.keys()] }, page)
  return runs.map((run) => cancel(run, causes.get(run.id)!)).filter((change) => change !== null)
}
