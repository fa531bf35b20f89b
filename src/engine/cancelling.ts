import { cancel, type RunChange } from "../core/run.ts"
import type { Store } from "../store/store.ts"

/** A run can move on as often as it is tried; it isn't followed for ever. */
const TRIES = 3

/** Cancels runs that give way to others. One that has moved on since it was read, such as to a worker, is read again. */
export async function cancelAll(store: Store, cancels: readonly RunChange[]): Promise<void> {
  let rest = cancels
  for (let tries = 0; rest.length > 0 && tries < TRIES; tries++) {
    const answers = await store.transition(rest)
    rest = await againOf(
      store,
      rest.filter((_, index) => answers[index]!.outcome === "stale"),
    )
  }
}

/** As the runs are now; those that are over need no cancel. */
async function againOf(store: Store, stale: readonly RunChange[]): Promise<readonly RunChange[]> {
  if (stale.length === 0) return []
  const whys = new Map(stale.map(({ runId, reason, by }) => [runId, { reason, by }]))
  const page = { orderBy: "createdAt", after: null, limit: stale.length } as const
  const runs = await store.findRuns({ ids: [...whys.keys()] }, page)
  return runs.map((run) => cancel(run, whys.get(run.id)!)).filter((change) => change !== null)
}
