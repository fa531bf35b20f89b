import { cancelledAsFound, type RunChange } from "../core/run.ts"
import type { Store } from "../store/store.ts"

/** A run can move on as often as it is tried; it isn't followed for ever. */
const TRIES = 3

/** Cancels runs that give way to others. One that has moved on since it was read, such as to a worker, is cancelled where it is. */
export async function cancelAll(store: Store, cancels: readonly RunChange[]): Promise<void> {
  let rest = cancels
  for (let tries = 0; rest.length > 0 && tries < TRIES; tries++) {
    const answers = await store.transition(rest)
    rest = rest.flatMap((change, index) => {
      const answer = answers[index]!
      const again = answer.outcome === "stale" ? cancelledAsFound(change, answer) : null
      return again === null ? [] : [again]
    })
  }
}
