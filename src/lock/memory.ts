import { type AcquireAnswer, assertHold, assertOwner, type LockBackend } from "./backend.ts"
import type { LockClock } from "./clock.ts"
import { LockConnection } from "./lock-connection.ts"

/** The holds that backends in one process share. */
export interface LockTable {
  lastFence: number
  readonly holds: Map<string, Hold>
}

interface Hold {
  readonly token: string
  readonly fence: number
  readonly expiresAt: number
}

/** Locks within one process. */
export function createMemoryLocks(
  clock: Pick<LockClock, "monotonic" | "setTimer">,
  table: LockTable = { lastFence: 0, holds: new Map() },
): LockBackend {
  const lockConnection = new LockConnection(
    { where: "memory", open: async () => table, close: () => undefined },
    clock,
  )

  function holdOf(name: string): Hold | null {
    const hold = table.holds.get(name)
    if (hold === undefined || hold.expiresAt > clock.monotonic()) return hold ?? null
    table.holds.delete(name)
    return null
  }

  function acquire(name: string, token: string, ttlMs: number): AcquireAnswer {
    const now = clock.monotonic()
    const hold = holdOf(name)
    if (hold !== null && hold.token !== token) return { outcome: "held", forMs: hold.expiresAt - now }
    const fence = hold?.fence ?? ++table.lastFence
    table.holds.set(name, { token, fence, expiresAt: now + ttlMs })
    return { outcome: "acquired", fence }
  }

  return {
    open: () => lockConnection.open(),
    close: () => lockConnection.close(),
    async acquire(name, token, ttlMs) {
      assertHold(name, token, ttlMs)
      return lockConnection.use(async () => acquire(name, token, ttlMs))
    },
    async extend(name, token, ttlMs) {
      assertHold(name, token, ttlMs)
      return lockConnection.use(async () => {
        const hold = holdOf(name)
        if (hold?.token !== token) return false
        table.holds.set(name, { ...hold, expiresAt: clock.monotonic() + ttlMs })
        return true
      })
    },
    async release(name, token) {
      assertOwner(name, token)
      return lockConnection.use(async () => holdOf(name)?.token === token && table.holds.delete(name))
    },
  }
}
