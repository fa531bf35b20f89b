import { BelfryError } from "../../core/errors.ts"
import { checked, checkedValue, checkNothingElse } from "../../core/options/checked.ts"
import type { LockBackend } from "../../lock/backend.ts"
import { systemClock } from "../../runtime/clock.ts"
import { storeSource } from "../kit/options.ts"
import { addressOf, type PostgresAddress } from "./address.ts"
import type { Pool } from "./client.ts"
import type { DatabaseOptions } from "./database.ts"
import { UNNAMED } from "./faults.ts"
import { createPostgresLocks } from "./locks.ts"
import {
  POSTGRES_ADDRESS_OR_POOL,
  POSTGRES_LOCKS_OPTIONS,
  POSTGRES_OPTIONS,
  type PostgresLocksOptions,
  type PostgresOptions,
} from "./options.ts"
import { poolFor } from "./own-pool.ts"
import { createPostgresStore, type PostgresStore } from "./postgres-store.ts"

/** A store in a PostgreSQL database, 13 or later. */
export function postgres(options: string | PostgresOptions): PostgresStore
export function postgres(options: string | PostgresOptions, ...others: readonly unknown[]): PostgresStore {
  checkNothingElse(others, "postgres() takes one argument: postgres({ url, schema })")
  const given = typeof options === "string" ? { url: options } : options
  const { url, pool, schema, connections = 10 } = checked(given, POSTGRES_OPTIONS, storeSource("postgres"))
  if ((url === undefined) === (pool === undefined)) {
    throw new BelfryError("BELFRY_STORE_UNFIT", "postgres() takes either a url or a pool.")
  }
  const address = url === undefined ? null : addressOf(url)
  const store = createPostgresStore(
    async () =>
      pool === undefined
        ? { pool: await poolFor(address!.url, connections, DEADLINE_MS), isOwned: true }
        : { pool, isOwned: false },
    databaseOptions(address, schema),
    systemClock,
  )
  return Object.assign(store, { kind: "postgres" })
}

/** Locks in a PostgreSQL database, 13 or later. Takes a URL, or your own `pg.Pool`, which you close yourself. */
export function postgresLocks(urlOrPool: string | Pool, options: PostgresLocksOptions = {}): LockBackend {
  const source = storeSource("postgresLocks")
  checkedValue(urlOrPool, POSTGRES_ADDRESS_OR_POOL, { source, option: "urlOrPool" })
  const { schema, connections = 4 } = checked(options, POSTGRES_LOCKS_OPTIONS, source)
  const address = typeof urlOrPool === "string" ? addressOf(urlOrPool) : null
  return createPostgresLocks(
    async () =>
      address === null
        ? { pool: urlOrPool as Pool, isOwned: false }
        : { pool: await poolFor(address.url, connections, DEADLINE_MS), isOwned: true },
    databaseOptions(address, schema),
    systemClock,
  )
}

/** Longer than any of Belfry's statements takes on a healthy database. */
export const DEADLINE_MS = 5_000

export function databaseOptions(
  address: PostgresAddress | null,
  schema: string | undefined,
): DatabaseOptions {
  const named = schema ?? address?.schema ?? "belfry"
  checkedValue(named, POSTGRES_OPTIONS.schema, { source: storeSource("postgres"), option: "schema" })
  return { schema: named, where: address?.where ?? UNNAMED, deadlineMs: DEADLINE_MS }
}
