import type { PostgresStore } from "belfry/postgres"
import pg from "pg"
import { systemClock } from "../../../src/engine/clock.ts"
import { poolFor } from "../../../src/stores/postgres/own-pool.ts"
import { createPostgresStore } from "../../../src/stores/postgres/postgres-store.ts"
import { atTheEnd } from "../../support/scratch.ts"

export { atTheEnd, rejectsWith, until } from "../../support/scratch.ts"

export interface StoreOptions {
  readonly schema?: string
  readonly deadlineMs?: number
  readonly connections?: number
}

/** As `postgres(url)` makes it, with a deadline of the test's own. It is closed when the test ends. */
export function aStore(url: string, options: StoreOptions = {}): PostgresStore {
  const { schema = "belfry", deadlineMs = 5_000, connections = 10 } = options
  const makePool = async () => ({ pool: await poolFor(url, connections, deadlineMs), isOurs: true })
  const store = createPostgresStore(
    makePool,
    { schema, deadlineMs, where: "the test's database" },
    systemClock,
  )
  atTheEnd(() => store.close())
  return store
}

export async function anOpenStore(url: string, options: StoreOptions = {}): Promise<PostgresStore> {
  const store = aStore(url, options)
  await store.open()
  return store
}

/** Another program on the same database, which knows nothing of Belfry. */
export async function aPsql(url: string): Promise<pg.Client> {
  const psql = new pg.Client(url)
  psql.on("error", () => undefined)
  await psql.connect()
  atTheEnd(() => psql.end())
  return psql
}

/** How many connections the server has to this database, but for those who ask. */
export async function connectionsTo(psql: pg.Client): Promise<number> {
  const { rows } = await psql.query(
    "select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = 'belfry'",
  )
  return rows[0].count
}
