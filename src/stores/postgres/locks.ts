import { assertHold, assertOwner, type LockBackend } from "../../lock/backend.ts"
import { LockConnection } from "../../lock/lock-connection.ts"
import type { Timers } from "../kit/timers.ts"
import type { Pool } from "./client.ts"
import { ignoreConnectionErrors } from "./connection-errors.ts"
import { Database, type DatabaseOptions } from "./database.ts"
import { bringUpToDate } from "./migrations.ts"
import { spanFrom } from "./rows.ts"

const ACQUIRE = `
  select fence, held_for_ms
  from belfry.acquire_lock($1, $2, $3)`

const EXTEND = `
  update belfry.locks
  set expires_at = pg_catalog.clock_timestamp() + ${spanFrom("$3")}
  where name = $1
    and token = $2
    and expires_at > pg_catalog.clock_timestamp()
  returning 1`

const RELEASE = `
  delete from belfry.locks
  where name = $1
    and token = $2
    and expires_at > pg_catalog.clock_timestamp()
  returning 1`

// Deletes locks of processes that died, if no process has used their names since. It runs whenever a process opens the backend.
// SKIP LOCKED: a row that another process is taking over is left alone.
const DELETE_EXPIRED = `
  delete from belfry.locks
  where name in (
    select name
    from belfry.locks
    where expires_at < pg_catalog.clock_timestamp() - interval '1 hour'
    limit 10000
    for update skip locked
  )`

interface Opened {
  readonly pool: Pool
  readonly isOwned: boolean
  /** Removes the listeners from a pool that the program owns. */
  stopIgnoring(): void
  readonly database: Database
}

/** Each call is one statement and no session state is used, so a connection pooler may be in between. */
export function createPostgresLocks(
  makePool: () => Promise<{ pool: Pool; isOwned: boolean }>,
  options: DatabaseOptions,
  timers: Timers,
): LockBackend {
  const open = () => openDatabase(makePool, options, timers)
  const lockConnection = new LockConnection<Opened>({ where: options.where, open, close: closePool }, timers)
  const rows = (text: string, values: readonly unknown[]) =>
    lockConnection.use(({ database }) => database.rows(text, values))
  return {
    open: () => lockConnection.open(),
    close: () => lockConnection.close(),
    async acquire(name, token, ttlMs) {
      assertHold(name, token, ttlMs)
      const [fence, forMs] = (await rows(ACQUIRE, [name, token, ttlMs]))[0]!
      return fence === null
        ? { outcome: "held", forMs: Number(forMs) }
        : { outcome: "acquired", fence: Number(fence) }
    },
    async extend(name, token, ttlMs) {
      assertHold(name, token, ttlMs)
      return (await rows(EXTEND, [name, token, ttlMs])).length === 1
    },
    async release(name, token) {
      assertOwner(name, token)
      return (await rows(RELEASE, [name, token])).length === 1
    },
  }
}

async function openDatabase(
  makePool: () => Promise<{ pool: Pool; isOwned: boolean }>,
  options: DatabaseOptions,
  timers: Timers,
): Promise<Opened> {
  const { pool, isOwned } = await makePool()
  const stopIgnoring = ignoreConnectionErrors(pool)
  const database = new Database(pool, options, timers)
  try {
    await bringUpToDate(database, options)
    await database.rows(DELETE_EXPIRED)
  } catch (error) {
    // Not awaited: the pool ends with its last connection, and that may hang.
    void closePool({ pool, isOwned, stopIgnoring })
    throw error
  }
  return { pool, isOwned, stopIgnoring, database }
}

async function closePool({
  pool,
  isOwned,
  stopIgnoring,
}: Pick<Opened, "pool" | "isOwned" | "stopIgnoring">): Promise<void> {
  if (isOwned) await pool.end().catch(ignored)
  else stopIgnoring()
}

/** A pool that can't be ended has no open connections. */
function ignored(): void {}
