import { formatDuration } from "../../core/duration.ts"
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
 * One function, in a transaction of its own: what it did is committed if it answered as it should and the run is still
 * wanted, and is rolled back otherwise. Nothing outlives the transaction, so a pooler may stand in between.
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
      log.warn(`${found.signature} takes no payload: the one that was given is not used.`)
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

/** A worker that stands still with the work done but not committed loses it to whoever took the run over. */
const IDLE_MAX_MS = 30_000

/** Makes a server end the function of a worker that died. From PostgreSQL 14 on, and not wherever it runs. */
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
    // PostgreSQL's own names always come first; without its place named, a temporary table would come before all others.
    search_path: `${quoted(call.schema)}, pg_temp`,
    "belfry.run_id": run.id,
    "belfry.attempt": String(run.attempt),
    "belfry.schedule_id": run.scheduleId ?? "",
    "belfry.scheduled_for": run.scheduledFor?.toISOString() ?? "",
  }
}

/** The answer as text if it is small enough; the server measures it, so that no more is ever sent. */
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
      `${found.signature} answered ${bytes} bytes; at most ${rules.maxResultBytes} are taken. What it did was rolled back.`,
    )
  return text ?? null
}

interface Stopping {
  readonly backend: Backend
  readonly pool: SqlPool
  readonly connection: SqlConnection
}

/** The server keeps the time itself; this is for one that has gone silent. */
const SILENCE_MS = 5_000

/** Follows the signal: the function is ended on the server, and only then is this over. */
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
      // Closed, the connection takes its transaction along as soon as the server sees it.
      connection.release({ mayBeUsedAgain: false })
      giveUp(new SqlFailure(`${found.signature} could not be stopped; its connection was closed.`))
    })
  }
  const silent = clock.setTimer(timeoutMs + SILENCE_MS, () => {
    log.warn(`${found.signature} was not ended by the server after ${formatDuration(timeoutMs)}.`)
    stop()
  })
  signal.addEventListener("abort", stop, { once: true })
  if (signal.aborted) stop()
  try {
    return await Promise.race([calling, givenUp])
  } finally {
    silent()
    signal.removeEventListener("abort", stop)
    await stopping
  }
}

/** Deferred constraints speak up only now. */
async function commit(connection: SqlConnection, { signature }: FoundFunction): Promise<void> {
  try {
    await connection.rowsSoon("commit")
  } catch (error) {
    const { sqlstate = null } = ((error as SqlFailure).details ?? {}) as { sqlstate?: string | null }
    // Shut down or broken: the answer is lost, not necessarily the work.
    if (sqlstate !== null && !/^(57P|08)/.test(sqlstate)) throw error
    throw new SqlFailure(
      `The connection broke while the work of ${signature} was being committed: whether it is done is not known. ${(error as Error).message}`,
      { sqlstate },
      error,
    )
  }
}
