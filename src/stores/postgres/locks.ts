import { assertHold, assertOwner, type LockBackend } from "../../lock/backend.ts"
import { LockConnection } from "../../lock/lock-connection.ts"
import type { Pool } from "./client.ts"
import { Database, type DatabaseOptions, type Waiting } from "./database.ts"
import { migrate } from "./migrations.ts"
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

// Those of processes that died and whose names nobody asked for again. Who died is started again, and then this is done.
// A row that somebody is just taking over isn't waited for.
const DELETE_FORGOTTEN = `
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
  readonly isOurs: boolean
  readonly database: Database
}

/** Each call is one statement, so a connection pooler may stand in between, and nothing depends on a session. */
export function createPostgresLocks(
  makePool: () => Promise<{ pool: Pool; isOurs: boolean }>,
  options: DatabaseOptions,
  waiting: Waiting,
): LockBackend {
  const open = () => opened(makePool, options, waiting)
  const lockConnection = new LockConnection<Opened>({ where: options.where, open, close: leave }, waiting)
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

async function opened(
  makePool: () => Promise<{ pool: Pool; isOurs: boolean }>,
  options: DatabaseOptions,
  waiting: Waiting,
): Promise<Opened> {
  const { pool, isOurs } = await makePool()
  // Without a listener, an idle connection that the server ends would end the process.
  pool.on?.("error", ignored)
  const database = new Database(pool, options, waiting)
  try {
    await database.withClient((client) => migrate(client, options))
    await database.rows(DELETE_FORGOTTEN)
  } catch (error) {
    // Not waited for: it ends with its last connection, and that one may never be answered.
    void leave({ pool, isOurs })
    throw error
  }
  return { pool, isOurs, database }
}

async function leave({ pool, isOurs }: Pick<Opened, "pool" | "isOurs">): Promise<void> {
  if (isOurs) await pool.end().catch(ignored)
  else pool.off?.("error", ignored)
}

/** The pool has taken the connection out already, and the next call makes another; or nobody needs any more. */
function ignored(): void {}
