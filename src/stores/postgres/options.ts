import type { OptionType } from "../../core/options/checked.ts"
import { address, integer, objectWith, textLike } from "../../core/options/option-types.ts"
import { addressOr } from "../kit/options.ts"
import type { Pool } from "./client.ts"

export interface PostgresOptions extends PostgresLocksOptions {
  /** `postgres://user:password@host/database`. Belfry opens its own pool. */
  readonly url?: string
  /** Your own `pg.Pool` instead of `url`. You close it yourself. */
  readonly pool?: Pool
}

export interface PostgresLocksOptions {
  /**
   * The schema of Belfry's tables. Default: the `belfry_schema` of the address (`postgres://…?belfry_schema=jobs`), else
   * `belfry`.
   */
  readonly schema?: string
  /** The most connections of Belfry's own pool. Default: 10 for a store, 4 for locks. */
  readonly connections?: number
}

/** A server, given by its address or by the caller's pool. */
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
} satisfies Record<keyof PostgresLocksOptions, OptionType<unknown>>

export const POSTGRES_OPTIONS = { ...POSTGRES_SERVER, ...POSTGRES_LOCKS_OPTIONS } satisfies Record<
  keyof PostgresOptions,
  OptionType<unknown>
>
