import type { Instant, Lab, Store } from "belfry/store"

/**
 * A lab whose time passes only by `pass`. Its clock differs from the host's by years, so that a store that reads the host's
 * clock fails. Memory has no connections, so the peer is the store itself, unless `connect` is given. Nothing is closed.
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
      // Lets the store do pending work, such as a late hint.
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}
