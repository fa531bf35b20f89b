import type { Instant, Lab, Store } from "belfry/store"

/** A lab whose time passes only when a case says so. Its clock is nowhere near the host's: whoever reads that is found. */
export function labOf(createStore: (clock: { now(): Instant }) => Store): Lab {
  let now = Date.UTC(2031, 4, 17, 9, 30)
  return {
    async openStore() {
      const store = createStore({ now: () => now })
      await store.open()
      return store
    },
    async pass(ms) {
      now += ms
      // What the store does on its own, such as a late hint, happens meanwhile.
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}
