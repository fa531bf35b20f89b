/** Distributed locks on the database you already have, without a scheduler: `belfry/lock`. */

export { BelfryError } from "./core/errors.ts"
export type { Duration } from "./core/time/duration.ts"
export type { AcquireAnswer, LockBackend } from "./lock/backend.ts"
export { createLocks, memoryLocks } from "./lock/create-locks.ts"
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
