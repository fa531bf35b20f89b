import { checkedValue, checkNothingElse } from "../core/options/checked.ts"
import { objectWith, required } from "../core/options/option-types.ts"
import { setQuietTimer, systemClock } from "../runtime/clock.ts"
import { LOCK_SOURCE, type LockBackend } from "./backend.ts"
import type { LockClock } from "./clock.ts"
import { Locks } from "./locks.ts"
import { createMemoryLocks } from "./memory.ts"

/** Locks on a backend, such as `redisLocks(url)`. The backend is opened at the first call. */
export function createLocks(backend: LockBackend): Locks {
  checkedValue(backend, BACKEND, { source: { ...LOCK_SOURCE, subject: "createLocks" }, option: "backend" })
  return new Locks(backend, lockClock)
}

const BACKEND = required(
  objectWith<LockBackend>(["acquire", "extend", "release"], "a backend, such as memoryLocks()"),
)

/** Locks within this process only: for tests, and for programs that run as one process. */
export function memoryLocks(): LockBackend
export function memoryLocks(...others: readonly unknown[]): LockBackend {
  checkNothingElse(others, "memoryLocks() takes no argument")
  return createMemoryLocks(lockClock)
}

const lockClock: LockClock = { ...systemClock, setQuietTimer }
