import type { Pool, PostgresStore } from "belfry/postgres"
import pg from "pg"
import { type Clock, systemClock } from "../../../src/runtime/clock.ts"
import type { DatabaseOptions } from "../../../src/stores/postgres/database.ts"
import { poolFor } from "../../../src/stores/postgres/own-pool.ts"
import { createPostgresStore } from "../../../src/stores/postgres/postgres-store.ts"
import { PATIENCE_MS } from "../../support/patience.ts"
import { atTheEnd, until as untilWithin } from "../../support/scratch.ts"

export { PATIENCE_MS } from "../../support/patience.ts"
export { atTheEnd, rejectsWith } from "../../support/scratch.ts"

/** Waits for the condition, for up to PATIENCE_MS. */
export function until(condition: () => boolean | Promise<boolean>, what?: string): Promise<void> {
  return untilWithin(condition, what, PATIENCE_MS)
}

export interface StoreOptions {
  readonly schema?: string
  /** Default: so long that no call of a test reaches it. */
  readonly deadlineMs?: number
  readonly connections?: number
  readonly clock?: Clock
}

/** A store like that of `postgres(url)`, with the test's own deadline. It is closed when the test ends. */
export function aStore(url: string, options: StoreOptions = {}): PostgresStore {
  return closedAtTheEnd(makeStore(url, options))
}

/** For concurrent tests: the caller closes the store. */
export function makeStore(url: string, options: StoreOptions = {}): PostgresStore {
  const { connections = 10 } = options
  const about = aboutOf(options)
  const makePool = async () => ({ pool: await poolFor(url, connections, about.deadlineMs), isOwned: true })
  return createPostgresStore(makePool, about, options.clock ?? systemClock)
}

/** A store like that of `postgres({ pool })`. */
export function aStoreOn(pool: pg.Pool | Pool, options: StoreOptions = {}): PostgresStore {
  const makePool = async () => ({ pool: pool as Pool, isOwned: false })
  return closedAtTheEnd(createPostgresStore(makePool, aboutOf(options), options.clock ?? systemClock))
}

export async function anOpenStore(url: string, options: StoreOptions = {}): Promise<PostgresStore> {
  const store = aStore(url, options)
  await store.open()
  return store
}

function aboutOf({ schema = "belfry", deadlineMs = PATIENCE_MS }: StoreOptions): DatabaseOptions {
  return { schema, deadlineMs, where: "the test's database" }
}

function closedAtTheEnd(store: PostgresStore): PostgresStore {
  atTheEnd(() => store.close())
  return store
}

/** A plain connection to the database, like that of another program. */
export async function aPsql(url: string): Promise<pg.Client> {
  const psql = new pg.Client(url)
  psql.on("error", () => undefined)
  await psql.connect()
  atTheEnd(() => psql.end())
  return psql
}

/** How many connections Belfry has to this database. */
export async function connectionsTo(psql: pg.Client): Promise<number> {
  const { rows } = await psql.query(
    "select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = 'belfry'",
  )
  return rows[0].count
}

/** How many of the server's processes wait for a lock in this database. */
export async function waitersForLocks(psql: pg.Client): Promise<number> {
  const { rows } = await psql.query(
    "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  )
  return rows[0].count
}
