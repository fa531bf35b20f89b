import type { Clock } from "../../runtime/clock.ts"
import type { RunLogger } from "../../task/task-context.ts"
import { rowsOf, type SqlPool, type SqlQueryable } from "./sql-pool.ts"
import { isOverWithin } from "./waiting.ts"

/** Whose statement: a server's process, and when its transaction began, so that nobody else's is ever meant. */
export interface Backend {
  readonly pid: string
  readonly startedAt: string
}

/** How a transaction learns who it is. As text of a float, it is the same in every session, whatever its zone. */
export const BACKEND_COLUMNS = `pg_catalog.pg_backend_pid(), pg_catalog.date_part('epoch', pg_catalog.now())::text`

// Without track_activities the server doesn't tell when a transaction began; then the process has to be enough.
const tellingBackend = (order: string) => `
  select pg_catalog.${order}(pid)
  from pg_catalog.pg_stat_activity
  where pid = $1::int
    and coalesce(
      pg_catalog.date_part('epoch', xact_start)::text = $2,
      pg_catalog.current_setting('track_activities') = 'off'
    )`

/** A function can catch the first two; the last ends its connection. */
const ORDERS = ["pg_cancel_backend", "pg_cancel_backend", "pg_terminate_backend"].map(tellingBackend)

/** All of them together take less than the 5 seconds that the engine gives a task whose signal was aborted. */
const STEP_MS = 1_200

/**
 * Ends a statement from another connection. Answers whether it ended; by then no order is on its way any more, or it finds
 * the transaction gone.
 */
export async function stopStatement(
  backend: Backend,
  ended: Promise<unknown>,
  { pool, clock, log }: { pool: SqlPool; clock: Clock; log: RunLogger },
): Promise<boolean> {
  for (const order of ORDERS) {
    const told = tell(pool, order, [backend.pid, backend.startedAt]).catch((error: unknown) => {
      log.warn(`The function could not be told to stop: ${error instanceof Error ? error.message : error}`)
    })
    await isOverWithin(Promise.all([told, isOverWithin(ended, STEP_MS, clock)]), STEP_MS, clock)
    if (await isOverWithin(ended, 0, clock)) return true
  }
  return false
}

/** On a connection beside the pool, whose own may all be busy with functions that have to be stopped. */
async function tell(pool: SqlPool, text: string, values: readonly unknown[]): Promise<void> {
  const { client, end } = await connectionBeside(pool)
  try {
    await rowsOf(client, text, values)
  } finally {
    end()
  }
}

async function connectionBeside(pool: SqlPool): Promise<{ client: SqlQueryable; end: () => void }> {
  const { Client, options } = pool
  if (Client === undefined || options === undefined) {
    const client = await pool.connect()
    return { client, end: () => client.release() }
  }
  const client = new Client(options as never)
  // Its query tells; without a listener it would end the process.
  client.on("error", () => undefined)
  await client.connect()
  return { client, end: () => void client.end().catch(() => undefined) }
}
