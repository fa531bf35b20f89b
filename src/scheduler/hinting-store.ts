import type { Hint, Store } from "../store/store.ts"
import { withOperations } from "../store/with-operations.ts"

/**
 * A store that also hints this process's own loops after each write. Some databases give no hints (MySQL) or late ones. Without
 * this wrapper, a run would wait there for the next poll of the process that created it.
 */
export function withOwnHints(store: Store, onHint: (hint: Hint) => void): Store {
  async function hinted<T>(answer: Promise<T>, ...hints: readonly Hint[]): Promise<T> {
    const answered = await answer
    for (const hint of hints) onHint(hint)
    return answered
  }
  return withOperations(store, {
    putSchedule: (...given) => hinted(store.putSchedule(...given), "schedules"),
    fire: (...given) => hinted(store.fire(...given), "schedules", "runs"),
    enqueue: (...given) => hinted(store.enqueue(...given), "runs"),
    transition: (...given) => hinted(store.transition(...given), "cancelled", "runs"),
  })
}
