import { createVirtualClock, type VirtualClock } from "belfry/testing"
import type { LockClock } from "../../src/lock/clock.ts"
import { createMemoryLocks, type LockTable } from "../../src/lock/memory.ts"
import type { LockBackend, LockLab } from "../../src/lock.ts"

/** Virtual time. Timers that don't keep a process alive fire like the others. */
export function aVirtualClock(): VirtualClock & LockClock {
  const clock = createVirtualClock(Date.UTC(2031, 4, 17, 9, 30))
  return { ...clock, setQuietTimer: clock.setTimer }
}

/** Lets virtual time pass, and waits for everything that follows from it. */
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

/** A lab of memory backends, or of backends that `make` derives from them. Peers share their holds. */
export function memoryLab(
  make: (correct: LockBackend, table: LockTable) => LockBackend = (correct) => correct,
): LockLab {
  const clock = aVirtualClock()
  let table: LockTable = { lastFence: 0, holds: new Map() }
  const open = async () => {
    const backend = make(createMemoryLocks(clock, table), table)
    await backend.open()
    return backend
  }
  return {
    openBackend() {
      table = { lastFence: 0, holds: new Map() }
      return open()
    },
    openPeer: open,
    pass: (ms) => advance(clock, ms),
  }
}
