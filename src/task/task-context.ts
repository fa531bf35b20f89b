import type { Json } from "../core/json.ts"
import type { TriggeredBy } from "../core/run.ts"

/** What a task is given for one attempt. */
export interface TaskContext<Payload = unknown> {
  readonly payload: Payload
  readonly run: RunInfo
  /** Aborted when the run is cancelled or times out, when its lease is lost, and when the worker has to stop. */
  readonly signal: AbortSignal
  readonly log: RunLogger
  /** From 0 to 1; stored with the next heartbeat. */
  progress(fraction: number, message?: string): void
  /**
   * Ends the run with success inside a transaction of the task's own, on the database that the store is in: its writes and
   * the run's end are committed together, or neither is. Rejects if the run is no longer this attempt's.
   */
  complete(transaction: unknown, result?: unknown): Promise<void>
  /** The newest successful run of the same schedule, or null. */
  lastSuccess(): Promise<LastSuccess | null>
}

export interface RunInfo {
  /** The same for every attempt of an occurrence: your idempotency key. */
  readonly id: string
  /** Larger on every attempt: pass it to a resource that refuses smaller ones (a fencing token). */
  readonly attempt: number
  readonly isLastAttempt: boolean
  readonly task: string
  readonly scheduleId: string | null
  /** The nominal time of the occurrence; null for a run that was enqueued. */
  readonly scheduledFor: Date | null
  readonly triggeredBy: TriggeredBy
  /** How many occurrences this run stands for: more than 1 after an outage, under `catchUp: "once"`. */
  readonly standsFor: number
  readonly missed: { readonly from: Date; readonly until: Date; readonly count: number } | null
}

export interface LastSuccess {
  readonly runId: string
  readonly scheduledFor: Date | null
  readonly completedAt: Date
  readonly message: string | null
  readonly details: Json
}

/** Lines kept with the run. */
export interface RunLogger {
  debug(message: string, fields?: object): void
  info(message: string, fields?: object): void
  warn(message: string, fields?: object): void
  error(message: string, fields?: object): void
}
