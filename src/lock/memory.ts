import { type AcquireAnswer, assertHold, assertOwner, type LockBackend } from "./backend.ts"
import type { LockClock } from "./clock.ts"
import { Door } from "./door.ts"

/** What backends in one process share. */
export interface LockShelf {
  lastFence: number
  readonly holds: Map<string, Hold>
}

interface Hold {
  readonly token: string
  readonly fence: number
  readonly expiresAt: number
}

/** Locks among the parts of one process. */
export function createMemoryLocks(
  clock: Pick<LockClock, "monotonic" | "setTimer">,
  shelf: LockShelf = { lastFence: 0, holds: new Map() },
): LockBackend {
  const door = new Door({ where: "memory", open: async () => shelf, close: () => undefined }, clock)

  function holdOf(name: string): Hold | null {
    const hold = shelf.holds.get(name)
    if (hold === undefined || hold.expiresAt > clock.monotonic()) return hold ?? null
    shelf.holds.delete(name)
    return null
  }

  function acquire(name: string, token: string, ttlMs: number): AcquireAnswer {
    const now = clock.monotonic()
    const hold = holdOf(name)
    if (hold !== null && hold.token !== token) return { outcome: "held", forMs: hold.expiresAt - now }
    const fence = hold?.fence ?? ++shelf.lastFence
    shelf.holds.set(name, { token, fence, expiresAt: now + ttlMs })
    return { outcome: "acquired", fence }
  }

  return {
    open: () => door.open(),
    close: () => door.close(),
    async acquire(name, token, ttlMs) {
      assertHold(name, token, ttlMs)
      return door.use(async () => acquire(name, token, ttlMs))
    },
    async extend(name, token, ttlMs) {
      assertHold(name, token, ttlMs)
      return door.use(async () => {
        const hold = holdOf(name)
        if (hold?.token !== token) return false
        shelf.holds.set(name, { ...hold, expiresAt: clock.monotonic() + ttlMs })
        return true
      })
    },
    async release(name, token) {
      assertOwner(name, token)
      return door.use(async () => holdOf(name)?.token === token && shelf.holds.delete(name))
    },
  }
}
