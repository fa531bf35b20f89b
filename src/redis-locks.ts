import { BelfryError } from "./core/errors.ts"
import { systemClock } from "./engine/clock.ts"
import type { LockBackend } from "./lock/backend.ts"
import { createRedisLocks, type LockClient } from "./stores/redis/locks.ts"
import { clientFor } from "./stores/redis/own-client.ts"

export type { LockClient } from "./stores/redis/locks.ts"

export interface RedisLocksOptions {
  /** What the keys begin with, in braces: `belfry` unless said. Each prefix is a set of locks by itself. */
  readonly prefix?: string
}

/** Locks in Redis or Valkey: by its URL, or on your own `ioredis` client, which stays yours to end. */
export function redisLocks(urlOrClient: string | LockClient, options: RedisLocksOptions = {}): LockBackend {
  const prefix = taggedPrefix(options.prefix ?? "belfry")
  const where = typeof urlOrClient === "string" ? placeOf(urlOrClient) : "the Redis server"
  return createRedisLocks(
    async () =>
      typeof urlOrClient === "string"
        ? { client: await clientFor(urlOrClient, DEADLINE_MS), isOurs: true }
        : { client: urlOrClient, isOurs: false },
    { prefix, where, deadlineMs: DEADLINE_MS, onWarning: () => undefined },
    systemClock,
  )
}

/** Longer than any script of a lock takes on a server that is well. */
const DEADLINE_MS = 5_000

/** A cluster places a key by what stands in its first braces: so a lock and the count of fences are on one node. */
function taggedPrefix(prefix: string): string {
  const name = /^\{(.+)\}$/.exec(prefix)?.[1] ?? prefix
  if (/^[\w.:-]{1,100}$/.test(name)) return `{${name}}`
  const text = `The prefix "${prefix}" has to be a plain name: letters, digits and any of _ . : -`
  throw new BelfryError("BELFRY_STORE_UNFIT", text)
}

/** Without the password. */
function placeOf(url: string): string {
  try {
    return `Redis at ${new URL(url).host}`
  } catch {
    // The driver understands other forms too, and says what is wrong with this one.
    return "Redis"
  }
}
