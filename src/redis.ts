/** The store for Redis and Valkey: `belfry/redis`. */
export type { Check } from "./store/check.ts"
export type { Inspection } from "./store/inspection.ts"
export type { RedisClient } from "./stores/redis/client.ts"
export { inspect } from "./stores/redis/inspect.ts"
export type { LockClient } from "./stores/redis/locks.ts"
export type { RedisLocksOptions, RedisStoreOptions } from "./stores/redis/options.ts"
export { redis, redisLocks } from "./stores/redis/redis.ts"
