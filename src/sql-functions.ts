import { BelfryError } from "./core/errors.ts"
import type { Pool } from "./stores/postgres/client.ts"
import { poolFor } from "./stores/postgres/own-pool.ts"
import { type SqlTask, type SqlTaskOptions, sqlTask } from "./tasks/sql/sql-task.ts"

export type { SqlCall, SqlPayload } from "./tasks/sql/sql-payload.ts"
export type { SqlTask } from "./tasks/sql/sql-task.ts"

export interface SqlFunctionsOptions extends SqlTaskOptions {
  /** `postgres://user:password@host/database`. The task makes a pool of its own. */
  readonly url?: string
  /** Or your own `pg.Pool`, which stays yours to end. Not the store's: functions may keep all its connections busy. */
  readonly pool?: Pool
  /** How many connections the pool of its own may have, and so how many functions run at once: 5 unless said. */
  readonly connections?: number
}

/** The task `sql`, which calls functions of a PostgreSQL database. What it may call is decided here, not in payloads. */
export function sqlFunctions(options: SqlFunctionsOptions): SqlTask {
  const { url, pool, connections = 5, ...rules } = options
  if ((url === undefined) === (pool === undefined))
    throw new BelfryError("BELFRY_TASK_INVALID", "sqlFunctions() takes either a url or a pool.")
  if (!Number.isInteger(connections) || connections < 1)
    throw new BelfryError(
      "BELFRY_TASK_INVALID",
      `connections is ${connections}; use a whole number from 1 up.`,
    )
  return sqlTask(rules, async () =>
    pool === undefined ? { pool: await poolFor(url!, connections), isOurs: true } : { pool, isOurs: false },
  )
}
