import type { Store } from "../../src/store/store.ts"
import type { Operation } from "./faulty-store.ts"

/** A store that runs `meanwhile` right before the first call of an operation, so that the caller loses a race. */
export function racingStore(store: Store, operation: Operation, meanwhile: () => Promise<unknown>): Store {
  let hasHappened = false
  return new Proxy(store, {
    get(target, name) {
      if (name !== operation || hasHappened) return Reflect.get(target, name)
      return async (...given: unknown[]) => {
        if (!hasHappened) {
          hasHappened = true
          await meanwhile()
        }
        return (target[operation] as (...given: unknown[]) => Promise<unknown>)(...given)
      }
    },
  })
}
