import { Locks } from "../../src/lock/locks.ts"
import { createMemoryLocks } from "../../src/lock/memory.ts"
import { BelfryError, type LockBackend } from "../../src/lock.ts"
import { aVirtualClock } from "./lab.ts"

/** Locks on virtual time, in memory. A failing backend is the memory backend with some of its operations replaced. */
export function fixture(change: (correct: LockBackend) => Partial<LockBackend> = () => ({})) {
  const clock = aVirtualClock()
  const correct = createMemoryLocks(clock)
  return {
    clock,
    locks: new Locks({ ...correct, ...change(correct) }, clock),
    others: new Locks(correct, clock),
  }
}

export function unreachable(): never {
  throw new BelfryError("BELFRY_STORE_UNAVAILABLE", "The database is unreachable.")
}

export const codeOf = (error: unknown) => (error as BelfryError | undefined)?.code
