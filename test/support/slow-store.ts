import type { Store } from "../../src/store/store.ts"
import type { VirtualClock } from "../../src/testing/virtual-clock.ts"

/** A store behind a network: requests and answers each take up to `upToMs`, so that processes really race. */
export function slowStore(store: Store, clock: VirtualClock, upToMs = 10): Store {
  const travel = () =>
    new Promise<void>((resolve) => {
      clock.setTimer(Math.floor(clock.random() * (upToMs + 1)), resolve)
    })
  return new Proxy(store, {
    get(target, name) {
      const original = target[name as keyof Store] as (...given: unknown[]) => Promise<unknown>
      if (name === "listen" || name === "open" || name === "close") return original
      return async (...given: unknown[]) => {
        await travel()
        const answer = await original(...given)
        await travel()
        return answer
      }
    },
  })
}
