import { Locks } from "../../src/lock/locks.ts"
import { createMemoryLocks } from "../../src/lock/memory.ts"
import { BelfryError, type LockBackend } from "../../src/lock.ts"
import { aVirtualClock } from "./lab.ts"

/** Locks on virtual time, over memory; a backend that fails is memory with some of its operations replaced. */
export function fixture(change: (sound: LockBackend) => Partial<LockBackend> = () => ({})) {
  const clock = aVirtualClock()
  const sound = createMemoryLocks(clock)
  return { clock, locks: new Locks({ ...sound, ...change(sound) }, clock), others: new Locks(sound, clock) }
}

export function away(): never {
  throw new BelfryError("BELFRY_STORE_UNAVAILABLE", "The database is away.")
}

export const codeOf = (error: unknown) => (error as BelfryError | undefined)?.code
