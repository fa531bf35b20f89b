import { checked, checkedValue } from "./core/checked.ts"
import { systemClock } from "./engine/clock.ts"
import type { LockBackend } from "./lock/backend.ts"
import { REDIS_ADDRESS_OR_LOCK_CLIENT, REDIS_LOCKS_OPTIONS, storeDoor } from "./store-options.ts"
import { createRedisLocks, type LockClient } from "./stores/redis/locks.ts"
import { clientFor } from "./stores/redis/own-client.ts"
import { addressOf, placeOf, taggedPrefix } from "./stores/redis/place.ts"

export type { LockClient } from "./stores/redis/locks.ts"

export interface RedisLocksOptions {
  /** What the keys begin with, in braces. Default: the `prefix` of the address, else `belfry`. Each prefix is a set of locks by itself. */
  readonly prefix?: string
}

/** Locks in Redis or Valkey: by its URL, or on your own `ioredis` client, which stays yours to end. */
export function redisLocks(urlOrClient: string | LockClient, options: RedisLocksOptions = {}): LockBackend {
  const door = storeDoor("redisLocks")
  checkedValue(urlOrClient, REDIS_ADDRESS_OR_LOCK_CLIENT, { door, option: "urlOrClient" })
  const address = typeof urlOrClient === "string" ? addressOf(urlOrClient) : null
  const given = checked(options, REDIS_LOCKS_OPTIONS, door)
  const prefix = taggedPrefix(given.prefix ?? address?.prefix ?? "belfry")
  const where = placeOf(urlOrClient)
  return createRedisLocks(
    async () =>
      address === null
        ? { client: urlOrClient as LockClient, isOurs: false }
        : { client: await clientFor(address.url, DEADLINE_MS), isOurs: true },
    { prefix, where, deadlineMs: DEADLINE_MS, onWarning: () => undefined },
    systemClock,
  )
}

/** Longer than any script of a lock takes on a server that is well. */
const DEADLINE_MS = 5_000
