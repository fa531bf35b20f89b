import { type Duration, parseDuration } from "../../core/duration.ts"
import { BelfryError } from "../../core/errors.ts"
import { type Json, PAYLOAD_MAX_BYTES } from "../../core/json.ts"
import type { RetryOptions } from "../../core/options.ts"
import { type Clock, systemClock } from "../../engine/clock.ts"
import type { Logger } from "../../engine/logger.ts"
import { defineTask, type Task, type TaskContext } from "../../engine/task.ts"
import { type CallRules, callFunction } from "./function-call.ts"
import { warnOfPowers } from "./role-powers.ts"
import { SqlFailure } from "./sql-failure.ts"
import { checkSchemas, type SqlCall, type SqlPayload, sqlPayloadSchema } from "./sql-payload.ts"
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

/** The largest that PostgreSQL's settings hold. */
const TIMEOUT_MAX_MS = 2_147_483_647

/** A task that calls functions of the database: those in the schemas named here, as the role named here. */
export function sqlTask(options: SqlTaskOptions, makePool: () => Promise<OpenedPool>): SqlTask {
  const schemas = checkSchemas(options.schemas)
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

function rulesOf(options: SqlTaskOptions): CallRules {
  const { role = null, maxResultBytes = PAYLOAD_MAX_BYTES } = options
  // `none` is what PostgreSQL calls the absence of a role.
  const isRole = role === null || (typeof role === "string" && /^[^\0]{1,63}$/.test(role) && role !== "none")
  if (!isRole) throw mistake(`Its role ${JSON.stringify(role)} is not the name of one.`)
  const isSize =
    Number.isInteger(maxResultBytes) && maxResultBytes >= 1 && maxResultBytes <= PAYLOAD_MAX_BYTES
  if (!isSize) throw mistake(`maxResultBytes is ${maxResultBytes}; use 1 to ${PAYLOAD_MAX_BYTES}.`)
  return {
    role,
    timeoutMs: timeoutOf("timeout", options.timeout ?? "1h"),
    lockTimeoutMs: timeoutOf("lockTimeout", options.lockTimeout ?? "10s"),
    maxResultBytes,
    clock: options.clock ?? systemClock,
  }
}

/** To PostgreSQL, 0 would mean for ever. */
function timeoutOf(option: string, duration: Duration): number {
  const ms = parseDuration(duration, option)
  if (ms >= 1 && ms <= TIMEOUT_MAX_MS) return ms
  throw mistake(`Its ${option} is ${ms}ms; use 1ms to 24 days.`)
}

function mistake(text: string): BelfryError {
  return new BelfryError("BELFRY_TASK_INVALID", `The sql task can't be defined like this. ${text}`)
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
