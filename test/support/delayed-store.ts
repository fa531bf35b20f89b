import type { Store } from "../../src/store/store.ts"
import type { VirtualClock } from "../../src/testing/virtual-clock.ts"
import type { Operation } from "./faulty-store.ts"

/** A store behind a slow network: each request and each answer takes as long as `delayMsOf` returns when it is sent. */
export function delayedStore(
  store: Store,
  clock: VirtualClock,
  delayMsOf: (operation: Operation) => number,
): Store {
  const travel = (operation: Operation) =>
    new Promise<void>((resolve) => {
      const delayMs = delayMsOf(operation)
      if (delayMs === 0) resolve()
      else clock.setTimer(delayMs, resolve)
    })
  return new Proxy(store, {
    get(target, name) {
      const operation = name as Operation
      const original = target[operation] as (...given: unknown[]) => Promise<unknown>
      if (operation === "listen" || operation === "open" || operation === "close") return original
      return async (...given: unknown[]) => {
        await travel(operation)
        const answer = await original(...given)
        await travel(operation)
        return answer
      }
    },
  })
}
