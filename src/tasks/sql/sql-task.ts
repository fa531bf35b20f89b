import type { Checked, Kind } from "../../core/checked.ts"
import type { Duration } from "../../core/duration.ts"
import { DAY, HOUR, SECOND } from "../../core/instant.ts"
import { type Json, PAYLOAD_MAX_BYTES } from "../../core/json.ts"
import { asGiven, duration, integer, objectWith, required, textLike } from "../../core/kinds.ts"
import type { RetryOptions } from "../../core/options.ts"
import { RETRY } from "../../core/policies.ts"
import { type Clock, systemClock } from "../../runtime/clock.ts"
import type { Logger } from "../../runtime/logger.ts"
import { defineTask, type Task } from "../../task/task.ts"
import type { TaskContext } from "../../task/task-context.ts"
import { type CallRules, callFunction } from "./function-call.ts"
import { examineFunction } from "./function-examination.ts"
import { warnOfPowers } from "./role-powers.ts"
import { SqlFailure } from "./sql-failure.ts"
import { SCHEMAS, type SqlCall, type SqlPayload, sqlPayloadSchema } from "./sql-payload.ts"
import { LazyPool, type OpenedPool } from "./sql-pool.ts"

export interface SqlTaskOptions {
  /** Those whose functions may be called; a name without a schema means the first. */
  readonly schemas: readonly string[]
  /** Whom the function runs as; the user of the connection unless said. */
  readonly role?: string
  /** How long a function may take: 1 hour unless said. A schedule's own timeout can only be shorter. */
  readonly timeout?: Duration
  /** How long it may wait for a lock: 10 seconds unless said. */
  readonly lockTimeout?: Duration
  /** How large an answer may be: 1 MiB, unless less is said. */
  readonly maxResultBytes?: number
  readonly retry?: RetryOptions
  /** For tests. */
  readonly clock?: Clock
}

/** A task that holds connections. */
export interface SqlTask extends Task<SqlPayload, SqlCall> {
  /** Waits for the functions that are being called, and ends the connections. Call it after the scheduler has stopped. */
  close(): Promise<void>
}

/** The task that a schedule with a `function` in its row is of. */
const NAME = "sql"

/** To PostgreSQL, 0 would mean for ever; 24 days are the most that its settings hold. */
const TIMEOUT = duration({ min: 1, max: 24 * DAY })

export const SQL_TASK_OPTIONS = {
  schemas: required(SCHEMAS),
  // `none` is what PostgreSQL calls the absence of a role.
  role: textLike(/^(?!none$)[^\0]{1,63}$/, "the name of a role"),
  timeout: TIMEOUT,
  lockTimeout: TIMEOUT,
  maxResultBytes: integer(1, PAYLOAD_MAX_BYTES),
  retry: asGiven<RetryOptions>(RETRY),
  clock: objectWith<Clock>(["monotonic", "setTimer"], "a clock"),
} satisfies Record<keyof SqlTaskOptions, Kind<unknown>>

type GivenOptions = Checked<typeof SQL_TASK_OPTIONS>

/** A task that calls functions of the database: those in the schemas named here, as the role named here. */
export function sqlTask(options: GivenOptions, makePool: () => Promise<OpenedPool>): SqlTask {
  const { schemas } = options
  const rules = rulesOf(options)
  const lazyPool = new LazyPool(makePool)
  const calls = new Set<Promise<unknown>>()
  const kept = <Result>(call: Promise<Result>): Promise<Result> => {
    calls.add(call)
    const forget = () => void calls.delete(call)
    call.then(forget, forget)
    return call
  }
  const task = defineTask({
    name: NAME,
    payload: sqlPayloadSchema(schemas),
    ...(options.retry !== undefined && { retry: options.retry }),
    run: (context) => kept(report(context, lazyPool, rules)),
    examine: (call) => kept(examined(call, lazyPool, rules)),
  })
  return Object.assign(task, {
    onStart(logger: Logger) {
      kept(lazyPool.opened().then((pool) => warnOfPowers(pool, { ...rules, logger })))
    },
    async close() {
      await Promise.allSettled(calls)
      await lazyPool.close()
    },
  })
}

function rulesOf(options: GivenOptions): CallRules {
  return {
    role: options.role ?? null,
    timeoutMs: options.timeout ?? HOUR,
    lockTimeoutMs: options.lockTimeout ?? 10 * SECOND,
    maxResultBytes: options.maxResultBytes ?? PAYLOAD_MAX_BYTES,
    clock: options.clock ?? systemClock,
  }
}

/** A pool that can't be opened is the runs' to tell. */
async function examined(call: SqlCall, lazyPool: LazyPool, rules: CallRules): Promise<void> {
  const pool = await lazyPool.opened().catch(() => null)
  if (pool !== null) await examineFunction(call, pool, rules)
}

interface Report {
  readonly success: boolean
  readonly message: string | null
  readonly details: Json
}

/** What the database says against it is a failure of the run, with words instead of a stack. */
async function report(context: TaskContext<SqlCall>, lazyPool: LazyPool, rules: CallRules): Promise<Report> {
  try {
    const pool = await lazyPool.opened()
    return await callFunction(context, pool, rules)
  } catch (error) {
    // An abort by the run's own signal is the engine's to judge: it wants an error, not a result.
    context.signal.throwIfAborted()
    if (!(error instanceof SqlFailure)) throw error
    return { success: false, message: error.message, details: error.details }
  }
}
