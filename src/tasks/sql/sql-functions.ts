import { BelfryError } from "../../core/errors.ts"
import { checked, type OptionSource, type OptionType } from "../../core/options/checked.ts"
import { addressOf } from "../../stores/postgres/address.ts"
import type { Pool } from "../../stores/postgres/client.ts"
import { POSTGRES_SERVER } from "../../stores/postgres/options.ts"
import { poolFor } from "../../stores/postgres/own-pool.ts"
import { SQL_TASK_OPTIONS, type SqlTask, type SqlTaskOptions, sqlTask } from "./sql-task.ts"

export interface SqlFunctionsOptions extends SqlTaskOptions {
  /** `postgres://user:password@host/database`. The task makes its own pool. */
  readonly url?: string
  /** Or your own `pg.Pool`, which you end yourself. Don't pass the store's pool: functions may keep all its connections busy. */
  readonly pool?: Pool
  /** How many connections the task's own pool may have, and so how many functions run at once. Default 5. */
  readonly connections?: number
}

export const SQL_FUNCTIONS_OPTIONS = { ...POSTGRES_SERVER, ...SQL_TASK_OPTIONS } satisfies Record<
  keyof SqlFunctionsOptions,
  OptionType<unknown>
>

const SOURCE: OptionSource = { code: "BELFRY_TASK_INVALID", subject: "sqlFunctions" }

/** The task `sql`, which calls functions of a PostgreSQL database. These options, not payloads, decide what it may call. */
export function sqlFunctions(options: SqlFunctionsOptions): SqlTask {
  const { url, pool, connections = 5, ...rules } = checked(options, SQL_FUNCTIONS_OPTIONS, SOURCE)
  if ((url === undefined) === (pool === undefined))
    throw new BelfryError("BELFRY_TASK_INVALID", "sqlFunctions() takes either a url or a pool.")
  return sqlTask(rules, async () =>
    pool === undefined
      ? { pool: await poolFor(addressOf(url!).url, connections), isOwned: true }
      : { pool, isOwned: false },
  )
}
