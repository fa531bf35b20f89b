/** A lock by itself, on the database you already have: `belfry/lock`. */
import { checkedValue } from "./core/checked.ts"
import { objectWith, required } from "./core/kinds.ts"
import { setQuietTimer, systemClock } from "./engine/clock.ts"
import { LOCK_DOOR, type LockBackend } from "./lock/backend.ts"
import type { LockClock } from "./lock/clock.ts"
import { Locks } from "./lock/locks.ts"
import { createMemoryLocks } from "./lock/memory.ts"
import { checkNothingElse } from "./store-options.ts"

export type { Duration } from "./core/duration.ts"
export { BelfryError } from "./core/errors.ts"
export type { AcquireAnswer, LockBackend } from "./lock/backend.ts"
export type { Lock } from "./lock/held-lock.ts"
export {
  type BrokenLockLaw,
  LOCK_LAWS,
  type LockLab,
  type LockLaw,
  type LockLawCase,
  proveLockLaws,
} from "./lock/laws.ts"
export type { HeldLock, LockOptions, Locks, TryLockOptions } from "./lock/locks.ts"

/** Locks on a backend, such as `redisLocks(url)`. Nothing is opened before the first question. */
export function createLocks(backend: LockBackend): Locks {
  checkedValue(backend, BACKEND, { door: { ...LOCK_DOOR, subject: "createLocks" }, option: "backend" })
  return new Locks(backend, lockClock)
}

const BACKEND = required(
  objectWith<LockBackend>(["acquire", "extend", "release"], "a backend, such as memoryLocks()"),
)

/** Among the parts of this process only: for tests, and for programs that are one process. */
export function memoryLocks(): LockBackend
export function memoryLocks(...others: readonly unknown[]): LockBackend {
  checkNothingElse(others, "memoryLocks() takes no argument")
  return createMemoryLocks(lockClock)
}

const lockClock: LockClock = { ...systemClock, setQuietTimer }
