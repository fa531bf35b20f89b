import type { Door, Kind, RequiredKind } from "./core/checked.ts"
import { BelfryError } from "./core/errors.ts"
import { address, callback, choice, integer, objectWith, required, text, textLike } from "./core/kinds.ts"
import type { PostgresLocksOptions, PostgresOptions } from "./postgres.ts"
import type { RedisStoreOptions } from "./redis.ts"
import type { RedisLocksOptions } from "./redis-locks.ts"
import type { SqliteOptions } from "./sqlite.ts"
import type { Pool } from "./stores/postgres/client.ts"
import type { RedisClient } from "./stores/redis/client.ts"
import type { LockClient } from "./stores/redis/locks.ts"

/** What the functions take that make stores and locks. */

/** A server by its address, or by a pool of the caller's. */
export const POSTGRES_SERVER = {
  url: address,
  pool: objectWith<Pool>(["connect", "end"], "a pg.Pool"),
  connections: integer(1, 10_000),
}

/** A server's address, or what talks to it already. */
function addressOr<Client extends object>(client: Kind<Client>): RequiredKind<string | Client> {
  const allowed = `${address.allowed} in quotes, or ${client.allowed}`
  return {
    allowed,
    isRequired: true,
    read: (value, at) => {
      if (typeof value === "string") return address.read(value, at)
      return { ...client, allowed }.read(value, at)
    },
  }
}

export const POSTGRES_ADDRESS_OR_POOL = addressOr(POSTGRES_SERVER.pool)
export const REDIS_ADDRESS_OR_CLIENT = addressOr(
  objectWith<RedisClient>(["call", "duplicate", "on", "subscribe"], "an ioredis client"),
)
export const REDIS_ADDRESS_OR_LOCK_CLIENT = addressOr(
  objectWith<LockClient>(["call", "on"], "an ioredis client"),
)

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

export const SQLITE_PATH = required(text({ min: 1, max: 4_096 }))

export const SQLITE_OPTIONS = {
  path: SQLITE_PATH,
  durability: choice("normal", "full"),
} satisfies Record<keyof SqliteOptions, Kind<unknown>>

/** An argument that nobody reads would be an option that silently isn't there. `rule` says what there is. */
export function checkNothingElse(others: readonly unknown[], rule: string): void {
  if (others.every((other) => other === undefined)) return
  throw new BelfryError("BELFRY_STORE_UNFIT", `${rule}.`, { details: { option: "options" } })
}

export function storeDoor(subject: string): Door {
  return { code: "BELFRY_STORE_UNFIT", subject }
}
