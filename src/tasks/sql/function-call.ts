import { formatDuration } from "../../core/time/duration.ts"
import type { Clock } from "../../runtime/clock.ts"
import type { RunInfo, TaskContext } from "../../task/task-context.ts"
import { FIND_FUNCTIONS, type FoundFunction, functionOf } from "./function-lookup.ts"
import { answerOf, type SqlAnswer } from "./sql-answer.ts"
import { connect, type SqlConnection } from "./sql-connection.ts"
import { SqlFailure } from "./sql-failure.ts"
import { quoted, type SqlCall } from "./sql-payload.ts"
import type { SqlPool } from "./sql-pool.ts"
import { BACKEND_COLUMNS, type Backend, stopStatement } from "./statement-stop.ts"

export interface CallRules {
  readonly role: string | null
  readonly timeoutMs: number
  readonly lockTimeoutMs: number
  readonly maxResultBytes: number
  readonly clock: Clock
}

/**
 * Calls a function in a transaction of its own. Its changes are committed if its answer is valid and the run wasn't aborted, and
 * rolled back otherwise. Nothing outlives the transaction, so a pooler may be in between.
 */
export async function callFunction(
  context: TaskContext<SqlCall>,
  pool: SqlPool,
  rules: CallRules,
): Promise<SqlAnswer> {
  const { payload: call, signal, log } = context
  const { clock, timeoutMs } = rules
  signal.throwIfAborted()
  const connection = await connect(pool, { signal, waitMs: timeoutMs, clock, log })
  try {
    await connection.rowsSoon("begin")
    const backend = await prepare(connection, context, rules)
    const found = functionOf(await connection.rowsSoon(FIND_FUNCTIONS, [call.schema, call.name]), call)
    if (!found.takesPayload && call.payload !== undefined)
      log.warn(`${found.signature} takes no payload; the given payload is not used.`)
    const stopping = { backend, pool, connection }
    const text = await answerText(found, context, rules, stopping)
    const answer = answerOf(text, found.signature, log)
    signal.throwIfAborted()
    await commit(connection, found)
    connection.release({ mayBeUsedAgain: true })
    return answer
  } catch (error) {
    await connection.rollBack()
    throw error
  }
}

/** A worker that hangs before the commit loses the function's changes, because another worker has taken the run by then. */
const IDLE_MAX_MS = 30_000

/** Makes the server end the function of a worker that died. Needs PostgreSQL 14, and works only on some platforms. */
const WATCH_CLIENT = `case
    when pg_catalog.version() like '%linux%' and pg_catalog.current_setting('client_connection_check_interval', true) is not null
    then pg_catalog.set_config('client_connection_check_interval', '2s', true)
  end`

/** Settings for this transaction only. */
async function prepare(
  connection: SqlConnection,
  { payload: call, run }: TaskContext<SqlCall>,
  rules: CallRules,
): Promise<Backend> {
  const settings = Object.entries(settingsOf(call, run, rules))
  const columns = settings.map(
    (_, index) => `pg_catalog.set_config($${2 * index + 1}, $${2 * index + 2}, true)`,
  )
  const [row] = await connection.rowsSoon(
    `select ${[BACKEND_COLUMNS, WATCH_CLIENT, ...columns].join(",\n  ")}`,
    settings.flat(),
  )
  return { pid: row![0]!, startedAt: row![1]! }
}

function settingsOf(call: SqlCall, run: RunInfo, rules: CallRules): Readonly<Record<string, string>> {
  return {
    ...(rules.role !== null && { role: rules.role }),
    statement_timeout: `${rules.timeoutMs}ms`,
    lock_timeout: `${rules.lockTimeoutMs}ms`,
    idle_in_transaction_session_timeout: `${IDLE_MAX_MS}ms`,
    // PostgreSQL's own names always come first. If pg_temp isn't listed, temporary tables come before all other schemas.
    search_path: `${quoted(call.schema)}, pg_temp`,
    "belfry.run_id": run.id,
    "belfry.attempt": String(run.attempt),
    "belfry.schedule_id": run.scheduleId ?? "",
    "belfry.scheduled_for": run.scheduledFor?.toISOString() ?? "",
  }
}

/** The answer as text if it is small enough. The server measures it, so a larger answer is never sent. */
const callOf = ({ schema, name }: SqlCall, { takesPayload }: FoundFunction) => `
  with called as materialized (
    select ${quoted(schema)}.${quoted(name)}(${takesPayload ? "$2::jsonb" : ""}) as answer
  ), written as materialized (
    select answer::text as answer
    from called
  )
  select
    pg_catalog.octet_length(answer),
    case when pg_catalog.octet_length(answer) <= $1::int then answer end
  from written`

async function answerText(
  found: FoundFunction,
  context: TaskContext<SqlCall>,
  rules: CallRules,
  stopping: Stopping,
): Promise<string | null> {
  const { payload: call } = context
  const argument = call.payload === undefined ? null : JSON.stringify(call.payload)
  const values = [rules.maxResultBytes, ...(found.takesPayload ? [argument] : [])]
  const calling = stopping.connection.rows(callOf(call, found), values)
  const [row] = await unlessStopped(calling, found, context, rules, stopping)
  const [bytes, text] = row!
  if (Number(bytes ?? 0) > rules.maxResultBytes)
    throw new SqlFailure(
      `${found.signature} answered ${bytes} bytes; at most ${rules.maxResultBytes} are allowed. Its changes were rolled back.`,
    )
  return text ?? null
}

interface Stopping {
  readonly backend: Backend
  readonly pool: SqlPool
  readonly connection: SqlConnection
}

/** The server enforces the timeout itself. This is for a server that no longer responds. */
const SILENCE_MS = 5_000

/** On an abort, ends the function on the server first and then rejects. */
async function unlessStopped<Result>(
  calling: Promise<Result>,
  found: FoundFunction,
  { signal, log }: TaskContext<SqlCall>,
  { timeoutMs, clock }: CallRules,
  { backend, pool, connection }: Stopping,
): Promise<Result> {
  let stopping: Promise<void> | null = null
  let giveUp: (failure: SqlFailure) => void = () => undefined
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = reject
  })
  const stop = () => {
    stopping ??= stopStatement(backend, calling, { pool, clock, log }).then((isEnded) => {
      if (isEnded) return
      // When the server notices the closed connection, it ends the transaction.
      connection.release({ mayBeUsedAgain: false })
      giveUp(new SqlFailure(`${found.signature} could not be stopped; its connection was closed.`))
    })
  }
  const cancelTimer = clock.setTimer(timeoutMs + SILENCE_MS, () => {
    log.warn(`The server did not end ${found.signature} after ${formatDuration(timeoutMs)}.`)
    stop()
  })
  signal.addEventListener("abort", stop, { once: true })
  if (signal.aborted) stop()
  try {
    return await Promise.race([calling, givenUp])
  } finally {
    cancelTimer()
    signal.removeEventListener("abort", stop)
    await stopping
  }
}

/** Deferred constraints are checked only here. */
async function commit(connection: SqlConnection, { signature }: FoundFunction): Promise<void> {
  try {
    await connection.rowsSoon("commit")
  } catch (error) {
    const { sqlstate = null } = ((error as SqlFailure).details ?? {}) as { sqlstate?: string | null }
    // After a shutdown or a broken connection the answer is lost, but the commit may have happened.
    if (sqlstate !== null && !/^(57P|08)/.test(sqlstate)) throw error
    throw new SqlFailure(
      `The connection broke while the changes of ${signature} were being committed. It is not known whether they were. ${(error as Error).message}`,
      { sqlstate },
      error,
    )
  }
}
