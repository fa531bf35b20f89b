import { hasBrokenPassword, placeOf } from "./core/address.ts"
import { checked, checkedValue } from "./core/checked.ts"
import { BelfryError } from "./core/errors.ts"
import { required } from "./core/kinds.ts"
import { systemClock } from "./engine/clock.ts"
import type { LockBackend } from "./lock/backend.ts"
import { POSTGRES_LOCKS_OPTIONS, POSTGRES_OPTIONS, storeDoor } from "./store-options.ts"
import type { Pool } from "./stores/postgres/client.ts"
import { Database } from "./stores/postgres/database.ts"
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
  /** Where Belfry's tables are; `belfry` unless said. */
  readonly schema?: string
  /** How many connections the pool of its own may have. */
  readonly connections?: number
}

/** A store in a PostgreSQL database, 13 or later. */
export function postgres(options: string | PostgresOptions): PostgresStore {
  const given = typeof options === "string" ? { url: options } : options
  const {
    url,
    pool,
    schema = "belfry",
    connections = 10,
  } = checked(given, POSTGRES_OPTIONS, storeDoor("postgres"))
  if ((url === undefined) === (pool === undefined)) {
    throw new BelfryError("BELFRY_STORE_UNFIT", "postgres() takes either a url or a pool.")
  }
  const where = url === undefined ? "the database" : whereOf(url)
  const store = createPostgresStore(
    async () =>
      pool === undefined
        ? { pool: await poolFor(url!, connections, DEADLINE_MS), isOurs: true }
        : { pool, isOurs: false },
    { schema, where, deadlineMs: DEADLINE_MS },
    systemClock,
  )
  return Object.assign(store, { kind: "postgres" })
}

export interface PostgresLocksOptions {
  /** Where Belfry's tables are; `belfry` unless said. */
  readonly schema?: string
  /** How many connections the pool of its own may have; 4 unless said. */
  readonly connections?: number
}

/** Locks in a PostgreSQL database, 13 or later: by its URL, or on your own `pg.Pool`, which stays yours to end. */
export function postgresLocks(urlOrPool: string | Pool, options: PostgresLocksOptions = {}): LockBackend {
  const given = checked(options, POSTGRES_LOCKS_OPTIONS, storeDoor("postgresLocks"))
  const { schema = "belfry", connections = 4 } = given
  const where = typeof urlOrPool === "string" ? whereOf(urlOrPool) : "the database"
  return createPostgresLocks(
    async () =>
      typeof urlOrPool === "string"
        ? { pool: await poolFor(urlOrPool, connections, DEADLINE_MS), isOurs: true }
        : { pool: urlOrPool, isOurs: false },
    { schema, where, deadlineMs: DEADLINE_MS },
    systemClock,
  )
}

/** Which schema a database is at (0: Belfry was never there), and which one this version knows. Changes nothing. */
export async function schemaOfDatabase(
  url: string,
  schema = "belfry",
): Promise<{ readonly stored: number; readonly known: number }> {
  const door = storeDoor("schemaOfDatabase")
  checkedValue(url, required(POSTGRES_OPTIONS.url), { door, option: "url" })
  checkedValue(schema, required(POSTGRES_OPTIONS.schema), { door, option: "schema" })
  const where = whereOf(url)
  const pool = await poolFor(url, 1, DEADLINE_MS)
  try {
    const database = new Database(pool, { schema, where, deadlineMs: DEADLINE_MS }, systemClock)
    const stored = await database.withClient((client) => schemaOf(client, schema))
    return { stored, known: MIGRATIONS.length }
  } finally {
    await pool.end()
  }
}

/** Longer than any statement of Belfry's takes on a database that is well. */
const DEADLINE_MS = 5_000

/** For messages: where the server is, without the password. */
function whereOf(url: string): string {
  if (hasBrokenPassword(url)) {
    // Part of it would be taken for the host, and shown in messages as one that can't be found.
    const text = "The password in the database's URL has a character in it that ends it."
    throw new BelfryError("BELFRY_STORE_UNFIT", text, {
      remedy: "Encode it: / is %2F, @ is %40, # is %23.",
    })
  }
  const place = placeOf(url)
  // The driver understands other forms too, and says what is wrong with this one.
  return place === null ? "PostgreSQL" : `PostgreSQL at ${place}`
}
