import type { TriggeredBy } from "../core/run/run.ts"
import type { Json } from "../core/values/json.ts"

/** The argument of a task's `run`, for one attempt. */
export interface TaskContext<Payload = unknown> {
  /** The payload as the schema returns it. */
  readonly payload: Payload
  /** The run and this attempt. */
  readonly run: RunInfo
  /** Aborted when the run is cancelled or times out, when its lease is lost, and when the worker has to stop. */
  readonly signal: AbortSignal
  /** Writes log lines that are stored with the run. */
  readonly log: RunLogger
  /** Reports progress. Stored with the next heartbeat. Throws if `fraction` is not between 0 and 1: half of the work is 0.5. */
  progress(fraction: number, message?: string): void
  /**
   * Ends the run with success inside the task's own transaction on the store's database: the task's writes and the run's end are
   * committed together, or neither is. Rejects if this attempt no longer holds the run.
   */
  complete(transaction: unknown, result?: unknown): Promise<void>
  /** Returns the newest successful run of the same schedule, or null. */
  lastSuccess(): Promise<LastSuccess | null>
}

/** The run that a task performs. */
export interface RunInfo {
  /** The same for every attempt. Use it as an idempotency key. */
  readonly id: string
  /** Rises with every attempt. Use it as a fencing token for a resource that refuses smaller numbers. */
  readonly attempt: number
  readonly isLastAttempt: boolean
  readonly task: string
  readonly scheduleId: string | null
  /** The nominal time of the occurrence. Null: the run was enqueued. */
  readonly scheduledFor: Date | null
  readonly triggeredBy: TriggeredBy
  /** How many occurrences this run stands for, including its own: more than 1 after an outage with `catchUp: "once"`. */
  readonly standsFor: number
  /** The other occurrences that this run stands for. `count` doesn't include its own. Null: there are none. */
  readonly missed: { readonly from: Date; readonly until: Date; readonly count: number } | null
}

/** The newest successful run of a schedule. */
export interface LastSuccess {
  readonly runId: string
  readonly scheduledFor: Date | null
  readonly completedAt: Date
  readonly message: string | null
  readonly details: Json
}

/** Writes log lines that are stored with the run. */
export interface RunLogger {
  debug(message: string, fields?: object): void
  info(message: string, fields?: object): void
  warn(message: string, fields?: object): void
  error(message: string, fields?: object): void
}
