import type { Instant, Lab, Store } from "belfry/store"

/**
 * A lab whose time passes only when a case says so. Its clock is nowhere near the host's: whoever reads that is found.
 * Memory has no connections, so a peer is the store itself unless `connect` makes another way to it. Nothing to close.
 */
export function labOf(
  createStore: (clock: { now(): Instant }) => Store,
  connect: (store: Store) => Store = (store) => store,
): Lab {
  let now = Date.UTC(2031, 4, 17, 9, 30)
  let current: Store | null = null
  return {
    async openStore() {
      current = createStore({ now: () => now })
      await current.open()
      return current
    },
    async openPeer() {
      if (current === null) throw new Error("A peer needs a store: ask for openStore first.")
      return connect(current)
    },
    async pass(ms) {
      now += ms
      // What the store does on its own, such as a late hint, happens meanwhile.
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}
