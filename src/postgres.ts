import { checked, checkedValue } from "./core/checked.ts"
import { BelfryError } from "./core/errors.ts"
import { required } from "./core/kinds.ts"
import { systemClock } from "./engine/clock.ts"
import type { LockBackend } from "./lock/backend.ts"
import {
  checkNothingElse,
  POSTGRES_ADDRESS_OR_POOL,
  POSTGRES_LOCKS_OPTIONS,
  POSTGRES_OPTIONS,
  storeDoor,
} from "./store-options.ts"
import { addressOf, type PostgresAddress } from "./stores/postgres/address.ts"
import type { Pool } from "./stores/postgres/client.ts"
import { Database, type DatabaseOptions } from "./stores/postgres/database.ts"
import { createPostgresLocks } from "./stores/postgres/locks.ts"
import { MIGRATIONS, schemaOf } from "./stores/postgres/migrations.ts"
import { poolFor } from "./stores/postgres/own-pool.ts"
import { createPostgresStore, type PostgresStore } from "./stores/postgres/postgres-store.ts"

export {
  type SqlCall,
  type SqlFunctionsOptions,
  type SqlPayload,
  type SqlTask,
  sqlFunctions,
} from "./sql-functions.ts"
export type { Pool, Queryable } from "./stores/postgres/client.ts"
export type { PostgresStore } from "./stores/postgres/postgres-store.ts"

export interface PostgresOptions {
  /** `postgres://user:password@host/database`. Belfry makes a pool of its own. */
  readonly url?: string
  /** Or your own `pg.Pool`, which stays yours to end. */
  readonly pool?: Pool
  /** Where Belfry's tables are. Default: the `belfry_schema` of the address (`postgres://…?belfry_schema=jobs`), else `belfry`. */
  readonly schema?: string
  /** How many connections the pool of its own may have. */
  readonly connections?: number
}

/** A store in a PostgreSQL database, 13 or later. */
export function postgres(options: string | PostgresOptions): PostgresStore
export function postgres(options: string | PostgresOptions, ...others: readonly unknown[]): PostgresStore {
  checkNothingElse(others, "postgres() takes one argument: postgres({ url, schema })")
  const given = typeof options === "string" ? { url: options } : options
  const { url, pool, schema, connections = 10 } = checked(given, POSTGRES_OPTIONS, storeDoor("postgres"))
  if ((url === undefined) === (pool === undefined)) {
    throw new BelfryError("BELFRY_STORE_UNFIT", "postgres() takes either a url or a pool.")
  }
  const address = url === undefined ? null : addressOf(url)
  const store = createPostgresStore(
    async () =>
      pool === undefined
        ? { pool: await poolFor(address!.url, connections, DEADLINE_MS), isOurs: true }
        : { pool, isOurs: false },
    optionsFor(address, schema),
    systemClock,
  )
  return Object.assign(store, { kind: "postgres" })
}

export interface PostgresLocksOptions {
  /** Where Belfry's tables are. Default: the `schema` of the address, else `belfry`. */
  readonly schema?: string
  /** How many connections the pool of its own may have; 4 unless said. */
  readonly connections?: number
}

/** Locks in a PostgreSQL database, 13 or later: by its URL, or on your own `pg.Pool`, which stays yours to end. */
export function postgresLocks(urlOrPool: string | Pool, options: PostgresLocksOptions = {}): LockBackend {
  const door = storeDoor("postgresLocks")
  checkedValue(urlOrPool, POSTGRES_ADDRESS_OR_POOL, { door, option: "urlOrPool" })
  const given = checked(options, POSTGRES_LOCKS_OPTIONS, door)
  const { schema, connections = 4 } = given
  const address = typeof urlOrPool === "string" ? addressOf(urlOrPool) : null
  return createPostgresLocks(
    async () =>
      address === null
        ? { pool: urlOrPool as Pool, isOurs: false }
        : { pool: await poolFor(address.url, connections, DEADLINE_MS), isOurs: true },
    optionsFor(address, schema),
    systemClock,
  )
}

/** Which schema a database is at (0: Belfry was never there), and which one this version knows. Changes nothing. */
export async function schemaOfDatabase(
  url: string,
  schema?: string,
): Promise<{ readonly stored: number; readonly known: number }> {
  const door = storeDoor("schemaOfDatabase")
  checkedValue(url, required(POSTGRES_OPTIONS.url), { door, option: "url" })
  checkedValue(schema, POSTGRES_OPTIONS.schema, { door, option: "schema" })
  const address = addressOf(url)
  const options = optionsFor(address, schema)
  const pool = await poolFor(address.url, 1, DEADLINE_MS)
  try {
    const database = new Database(pool, options, systemClock)
    const stored = await database.withClient((client) => schemaOf(client, options.schema))
    return { stored, known: MIGRATIONS.length }
  } finally {
    await pool.end()
  }
}

/** Longer than any statement of Belfry's takes on a database that is well. */
const DEADLINE_MS = 5_000

function optionsFor(address: PostgresAddress | null, schema: string | undefined): DatabaseOptions {
  const named = schema ?? address?.schema ?? "belfry"
  checkedValue(named, POSTGRES_OPTIONS.schema, { door: storeDoor("postgres"), option: "schema" })
  return { schema: named, where: address?.where ?? "the database", deadlineMs: DEADLINE_MS }
}
