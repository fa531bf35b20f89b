import type { Checked, OptionType } from "../../core/options/checked.ts"
import {
  asGiven,
  duration,
  integer,
  objectWith,
  required,
  textLike,
} from "../../core/options/option-types.ts"
import type { RetryOptions } from "../../core/options/options.ts"
import { RETRY } from "../../core/options/policies.ts"
import type { Duration } from "../../core/time/duration.ts"
import { DAY, HOUR, SECOND } from "../../core/time/instant.ts"
import { type Json, PAYLOAD_MAX_BYTES } from "../../core/values/json.ts"
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
  /** Schemas whose functions may be called. A name without a schema means the first. */
  readonly schemas: readonly string[]
  /** The role that functions run as. Default: the user of the connection. */
  readonly role?: string
  /** How long a function may take. Default 1 hour. A schedule's own timeout can only be shorter. */
  readonly timeout?: Duration
  /** How long a function may wait for a lock. Default 10 s. */
  readonly lockTimeout?: Duration
  /** How large an answer may be. Default and maximum 1 MiB. */
  readonly maxResultBytes?: number
  readonly retry?: RetryOptions
  /** For tests. */
  readonly clock?: Clock
}

/** A task that has connections of its own. */
export interface SqlTask extends Task<SqlPayload, SqlCall> {
  /** Waits for the functions that are being called, then ends the connections. Call it after the scheduler has stopped. */
  close(): Promise<void>
}

/** The task of schedules whose row has a `function`. */
const NAME = "sql"

/** In PostgreSQL, 0 would mean no limit, and 24 days is the longest that its settings can hold. */
const TIMEOUT = duration({ min: 1, max: 24 * DAY })

export const SQL_TASK_OPTIONS = {
  schemas: required(SCHEMAS),
  // In PostgreSQL, `none` means no role.
  role: textLike(/^(?!none$)[^\0]{1,63}$/, "the name of a role"),
  timeout: TIMEOUT,
  lockTimeout: TIMEOUT,
  maxResultBytes: integer(1, PAYLOAD_MAX_BYTES),
  retry: asGiven<RetryOptions>(RETRY),
  clock: objectWith<Clock>(["monotonic", "setTimer"], "a clock"),
} satisfies Record<keyof SqlTaskOptions, OptionType<unknown>>

type GivenOptions = Checked<typeof SQL_TASK_OPTIONS>

/** A task that calls functions of the database in the given schemas, as the given role. */
export function sqlTask(options: GivenOptions, makePool: () => Promise<OpenedPool>): SqlTask {
  const { schemas } = options
  const rules = rulesOf(options)
  const lazyPool = new LazyPool(makePool)
  const calls = new Set<Promise<unknown>>()
  const tracked = <Result>(call: Promise<Result>): Promise<Result> => {
    calls.add(call)
    const untrack = () => void calls.delete(call)
    call.then(untrack, untrack)
    return call
  }
  const task = defineTask({
    name: NAME,
    payload: sqlPayloadSchema(schemas),
    ...(options.retry !== undefined && { retry: options.retry }),
    run: (context) => tracked(report(context, lazyPool, rules)),
    examine: (call) => tracked(examined(call, lazyPool, rules)),
  })
  return Object.assign(task, {
    onStart(logger: Logger) {
      tracked(lazyPool.opened().then((pool) => warnOfPowers(pool, { ...rules, logger })))
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

/** Does nothing if the pool can't be opened: the runs report that. */
async function examined(call: SqlCall, lazyPool: LazyPool, rules: CallRules): Promise<void> {
  const pool = await lazyPool.opened().catch(() => null)
  if (pool !== null) await examineFunction(call, pool, rules)
}

interface Report {
  readonly success: boolean
  readonly message: string | null
  readonly details: Json
}

/** An error of the database becomes a failure of the run, with a message instead of a stack. */
async function report(context: TaskContext<SqlCall>, lazyPool: LazyPool, rules: CallRules): Promise<Report> {
  try {
    const pool = await lazyPool.opened()
    return await callFunction(context, pool, rules)
  } catch (error) {
    // After an abort by the run's own signal, the engine expects an error, not a result.
    context.signal.throwIfAborted()
    if (!(error instanceof SqlFailure)) throw error
    return { success: false, message: error.message, details: error.details }
  }
}
