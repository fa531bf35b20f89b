import type { Door, Kind } from "./core/checked.ts"
import { address, callback, choice, integer, objectWith, required, text, textLike } from "./core/kinds.ts"
import type { PostgresLocksOptions, PostgresOptions } from "./postgres.ts"
import type { RedisStoreOptions } from "./redis.ts"
import type { RedisLocksOptions } from "./redis-locks.ts"
import type { SqliteOptions } from "./sqlite.ts"
import type { Pool } from "./stores/postgres/client.ts"

/** What the functions take that make stores and locks. */

/** A server by its address, or by a pool of the caller's. */
export const POSTGRES_SERVER = {
  url: address,
  pool: objectWith<Pool>(["connect", "end"], "a pg.Pool"),
  connections: integer(1, 10_000),
}

export const POSTGRES_LOCKS_OPTIONS = {
  schema: textLike(
    /^[a-z_][a-z0-9_]{0,62}$/,
    'a plain name: 1 to 63 lower case letters, digits and "_", and no digit first',
  ),
  connections: POSTGRES_SERVER.connections,
} satisfies Record<keyof PostgresLocksOptions, Kind<unknown>>

export const POSTGRES_OPTIONS = { ...POSTGRES_SERVER, ...POSTGRES_LOCKS_OPTIONS } satisfies Record<
  keyof PostgresOptions,
  Kind<unknown>
>

export const REDIS_LOCKS_OPTIONS = {
  prefix: text({ min: 1, max: 102 }),
} satisfies Record<keyof RedisLocksOptions, Kind<unknown>>

export const REDIS_STORE_OPTIONS = {
  ...REDIS_LOCKS_OPTIONS,
  onWarning: callback<(message: string) => void>(),
} satisfies Record<keyof RedisStoreOptions, Kind<unknown>>

export const SQLITE_OPTIONS = {
  path: required(text({ min: 1, max: 4_096 })),
  durability: choice("normal", "full"),
} satisfies Record<keyof SqliteOptions, Kind<unknown>>

export function storeDoor(subject: string): Door {
  return { code: "BELFRY_STORE_UNFIT", subject }
}
