import { createVirtualClock, type VirtualClock } from "belfry/testing"
import type { LockClock } from "../../src/lock/clock.ts"
import { createMemoryLocks, type LockTable } from "../../src/lock/memory.ts"
import type { LockBackend, LockLab } from "../../src/lock.ts"

/** Virtual time; timers that don't keep a process alive ring there like the others. */
export function aVirtualClock(): VirtualClock & LockClock {
  const clock = createVirtualClock(Date.UTC(2031, 4, 17, 9, 30))
  return { ...clock, setQuietTimer: clock.setTimer }
}

/** Lets virtual time pass, and all that follows from it. */
export async function advance({ timeline }: VirtualClock, ms: number): Promise<void> {
  const until = timeline.now + ms
  await turn()
  while (timeline.step(until)) await turn()
  timeline.jumpTo(until)
  await turn()
}

export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** Memory's backends, or others made from them; peers share what is held. */
export function memoryLab(
  make: (sound: LockBackend, shelf: LockTable) => LockBackend = (sound) => sound,
): LockLab {
  const clock = aVirtualClock()
  let shelf: LockTable = { lastFence: 0, holds: new Map() }
  const open = async () => {
    const backend = make(createMemoryLocks(clock, shelf), shelf)
    await backend.open()
    return backend
  }
  return {
    openBackend() {
      shelf = { lastFence: 0, holds: new Map() }
      return open()
    },
    openPeer: open,
    pass: (ms) => advance(clock, ms),
  }
}
