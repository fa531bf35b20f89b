import { checked, checkedValue } from "../../core/options/checked.ts"
import type { LockBackend } from "../../lock/backend.ts"
import { systemClock } from "../../runtime/clock.ts"
import type { Store } from "../../store/store.ts"
import { storeSource } from "../kit/options.ts"
import type { RedisClient } from "./client.ts"
import { createRedisLocks, type LockClient } from "./locks.ts"
import {
  REDIS_ADDRESS_OR_CLIENT,
  REDIS_ADDRESS_OR_LOCK_CLIENT,
  REDIS_LOCKS_OPTIONS,
  REDIS_STORE_OPTIONS,
  type RedisLocksOptions,
  type RedisStoreOptions,
} from "./options.ts"
import { clientFor } from "./own-client.ts"
import { addressOf, placeOf, taggedPrefix } from "./place.ts"
import { createRedisStore } from "./redis-store.ts"

/** A store on Redis 6.2 or later, or on Valkey. Takes a URL, or your own `ioredis` client, which you close yourself. */
export function redis(server: string | RedisClient, options: RedisStoreOptions = {}): Store {
  const source = storeSource("redis")
  checkedValue(server, REDIS_ADDRESS_OR_CLIENT, { source, option: "server" })
  const { prefix, onWarning = warn } = checked(options, REDIS_STORE_OPTIONS, source)
  const address = typeof server === "string" ? addressOf(server) : null
  const store = createRedisStore(
    async () =>
      address === null
        ? { client: server as RedisClient, isOwned: false }
        : { client: await clientFor(address.url, DEADLINE_MS), isOwned: true },
    {
      prefix: taggedPrefix(prefix ?? address?.prefix ?? "belfry"),
      where: placeOf(server),
      deadlineMs: DEADLINE_MS,
      onWarning,
    },
    systemClock,
  )
  return Object.assign(store, { kind: "redis" })
}

/** Locks on Redis or Valkey. Takes a URL, or your own `ioredis` client, which you close yourself. */
export function redisLocks(urlOrClient: string | LockClient, options: RedisLocksOptions = {}): LockBackend {
  const source = storeSource("redisLocks")
  checkedValue(urlOrClient, REDIS_ADDRESS_OR_LOCK_CLIENT, { source, option: "urlOrClient" })
  const address = typeof urlOrClient === "string" ? addressOf(urlOrClient) : null
  const given = checked(options, REDIS_LOCKS_OPTIONS, source)
  const prefix = taggedPrefix(given.prefix ?? address?.prefix ?? "belfry")
  const where = placeOf(urlOrClient)
  return createRedisLocks(
    async () =>
      address === null
        ? { client: urlOrClient as LockClient, isOwned: false }
        : { client: await clientFor(address.url, DEADLINE_MS), isOwned: true },
    { prefix, where, deadlineMs: DEADLINE_MS, onWarning: () => undefined },
    systemClock,
  )
}

/** Longer than any of Belfry's scripts takes on a healthy server. */
export const DEADLINE_MS = 5_000

function warn(message: string): void {
  process.emitWarning(message, { code: "BELFRY_REDIS_UNKNOWN" })
}
