import type { Kind } from "../../core/checked.ts"
import { address, integer, objectWith, textLike } from "../../core/kinds.ts"
import { addressOr } from "../kit/options.ts"
import type { Pool } from "./client.ts"

export interface PostgresOptions extends PostgresLocksOptions {
  /** `postgres://user:password@host/database`. Belfry makes a pool of its own. */
  readonly url?: string
  /** Or your own `pg.Pool`, which stays yours to end. */
  readonly pool?: Pool
}

export interface PostgresLocksOptions {
  /** Where Belfry's tables are. Default: the `belfry_schema` of the address (`postgres://…?belfry_schema=jobs`), else `belfry`. */
  readonly schema?: string
  /** How many connections Belfry's own pool may have. Default: 10 for a store, 4 for locks. */
  readonly connections?: number
}

/** A server by its address, or by a pool of the caller's. */
export const POSTGRES_SERVER = {
  url: address,
  pool: objectWith<Pool>(["connect", "end"], "a pg.Pool"),
  connections: integer(1, 10_000),
}

export const POSTGRES_ADDRESS_OR_POOL = addressOr(POSTGRES_SERVER.pool)

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
