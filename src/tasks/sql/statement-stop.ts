import type { Clock } from "../../runtime/clock.ts"
import type { RunLogger } from "../../task/task-context.ts"
import { rowsOf, type SqlPool, type SqlQueryable } from "./sql-pool.ts"
import { isOverWithin } from "./waiting.ts"

/** Identifies a statement: the server process, and the start of its transaction, so that no other statement is stopped. */
export interface Backend {
  readonly pid: string
  readonly startedAt: string
}

/** Selects a transaction's own `Backend`. The start is a float as text, so it is the same in sessions of all time zones. */
export const BACKEND_COLUMNS = `pg_catalog.pg_backend_pid(), pg_catalog.date_part('epoch', pg_catalog.now())::text`

// Without track_activities the server doesn't show when a transaction began. Then the process id alone decides.
const sendingOrder = (order: string) => `
  select pg_catalog.${order}(pid)
  from pg_catalog.pg_stat_activity
  where pid = $1::int
    and coalesce(
      pg_catalog.date_part('epoch', xact_start)::text = $2,
      pg_catalog.current_setting('track_activities') = 'off'
    )`

/** A function can catch the first two. The last one ends its connection. */
const ORDERS = ["pg_cancel_backend", "pg_cancel_backend", "pg_terminate_backend"].map(sendingOrder)

/** All steps together take less than the 5 seconds that the engine gives a task after an abort. */
const STEP_MS = 1_200

/**
 * Ends a statement from another connection. Returns whether it ended. By then no order is under way that could stop another
 * transaction.
 */
export async function stopStatement(
  backend: Backend,
  ended: Promise<unknown>,
  { pool, clock, log }: { pool: SqlPool; clock: Clock; log: RunLogger },
): Promise<boolean> {
  for (const order of ORDERS) {
    const sent = send(pool, order, [backend.pid, backend.startedAt]).catch((error: unknown) => {
      log.warn(`The request to stop the function failed: ${error instanceof Error ? error.message : error}`)
    })
    await isOverWithin(Promise.all([sent, isOverWithin(ended, STEP_MS, clock)]), STEP_MS, clock)
    if (await isOverWithin(ended, 0, clock)) return true
  }
  return false
}

/** On a connection outside the pool: all connections of the pool may be busy with functions that have to be stopped. */
async function send(pool: SqlPool, text: string, values: readonly unknown[]): Promise<void> {
  const { client, end } = await separateConnection(pool)
  try {
    await rowsOf(client, text, values)
  } finally {
    end()
  }
}

async function separateConnection(pool: SqlPool): Promise<{ client: SqlQueryable; end: () => void }> {
  const { Client, options } = pool
  if (Client === undefined || options === undefined) {
    const client = await pool.connect()
    return { client, end: () => client.release() }
  }
  const client = new Client(options as never)
  // The query reports the error. Without a listener, the error event would end the process.
  client.on("error", () => undefined)
  await client.connect()
  return { client, end: () => void client.end().catch(() => undefined) }
}
