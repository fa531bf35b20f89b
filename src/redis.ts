import { checked, checkedValue } from "./core/checked.ts"
import { systemClock } from "./engine/clock.ts"
import type { Store } from "./store/store.ts"
import { REDIS_ADDRESS_OR_CLIENT, REDIS_STORE_OPTIONS, storeDoor } from "./store-options.ts"
import type { RedisClient } from "./stores/redis/client.ts"
import { clientFor } from "./stores/redis/own-client.ts"
import { addressOf, placeOf, taggedPrefix } from "./stores/redis/place.ts"
import { createRedisStore } from "./stores/redis/redis-store.ts"

export { type LockClient, type RedisLocksOptions, redisLocks } from "./redis-locks.ts"
export type { RedisClient } from "./stores/redis/client.ts"

export interface RedisStoreOptions {
  /**
   * What Belfry's keys begin with, in braces. Default: the `prefix` of the address (`redis://localhost/0?prefix=shop`), else
   * `belfry`. Each prefix is a store by itself.
   */
  readonly prefix?: string
  /** Told of what may be wrong with the server and can't be looked at; else the process is warned. */
  readonly onWarning?: (message: string) => void
}

/** A store on a Redis server, 6.2 or later, or on Valkey: by its URL, or by your own `ioredis`, which stays yours to end. */
export function redis(server: string | RedisClient, options: RedisStoreOptions = {}): Store {
  const door = storeDoor("redis")
  checkedValue(server, REDIS_ADDRESS_OR_CLIENT, { door, option: "server" })
  const { prefix, onWarning = warn } = checked(options, REDIS_STORE_OPTIONS, door)
  const address = typeof server === "string" ? addressOf(server) : null
  const store = createRedisStore(
    async () =>
      address === null
        ? { client: server as RedisClient, isOurs: false }
        : { client: await clientFor(address.url, DEADLINE_MS), isOurs: true },
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

/** Longer than any script of Belfry's takes on a server that is well. */
const DEADLINE_MS = 5_000

function warn(message: string): void {
  process.emitWarning(message, { code: "BELFRY_REDIS_UNKNOWN" })
}
