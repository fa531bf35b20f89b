import type { Hint, Store } from "../store/store.ts"

/**
 * The store as the service layer sees it: what it writes is told to this process's own loops at once. Several databases
 * give no hints (MySQL), or late ones, and there a run would otherwise wait for the next poll of the very process that made it.
 */
export function withOwnHints(store: Store, onHint: (hint: Hint) => void): Store {
  async function told<T>(answer: Promise<T>, ...hints: readonly Hint[]): Promise<T> {
    const answered = await answer
    for (const hint of hints) onHint(hint)
    return answered
  }
  const hinting: Partial<Store> = {
    putSchedule: (...given) => told(store.putSchedule(...given), "schedules"),
    fire: (...given) => told(store.fire(...given), "schedules", "runs"),
    enqueue: (...given) => told(store.enqueue(...given), "runs"),
    transition: (...given) => told(store.transition(...given), "cancelled", "runs"),
  }
  // A store may be an object with a prototype of its own, so it is not copied.
  return new Proxy(store, {
    get(target, name) {
      const own = hinting[name as keyof Store]
      if (own !== undefined) return own
      const value: unknown = Reflect.get(target, name)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}
