import { type Duration, parseDuration } from "../core/duration.ts"
import { BelfryError } from "../core/errors.ts"
import { parseInstant } from "../core/instant.ts"
import { toPayload } from "../core/json.ts"
import type { PriorityOption, RetryOptions, When } from "../core/options.ts"
import { defineRetry, priorityOf } from "../core/policies.ts"
import type { NewRun } from "../core/run.ts"
import type { Clock } from "../engine/clock.ts"
import { type AnyTask, validatePayload } from "../engine/task.ts"

export interface EnqueueOptions {
  /** Enqueuing the same id again does nothing, as long as the run is in the history. */
  readonly id?: string
  readonly delay?: Duration
  /** Not before this time. */
  readonly at?: When
  readonly priority?: PriorityOption
  /** While an unfinished run has this key, another with the same key is not stored. */
  readonly key?: string
  /** At most `limit` runs with this key are performed at once, over all workers. */
  readonly concurrency?: { readonly key: string; readonly limit: number }
  readonly retry?: RetryOptions
  readonly timeout?: Duration
  /** Who asks. */
  readonly by?: string
}

export interface Enqueued {
  /** `exists`: a run of that id is there. `held`: an unfinished run has that key. */
  readonly outcome: "created" | "exists" | "held"
  /** The run that is there now. */
  readonly runId: string
}

/** Checks everything before anything is stored. */
export async function newRunFor(
  task: AnyTask | string,
  payload: unknown,
  options: EnqueueOptions,
  clock: Clock,
): Promise<NewRun> {
  const name = typeof task === "string" ? task : task.name
  if (name === "") throw new BelfryError("BELFRY_RUN_INVALID", "The task's name is empty.")
  const stored = toPayload(payload, `Payload of task "${name}"`)
  // In the form it is stored in: what JSON changes (a Date, say) must show here, not at the run.
  if (typeof task !== "string") await validatePayload(task, stored)
  const { concurrency, key, retry, timeout } = options
  if (concurrency !== undefined && (!Number.isInteger(concurrency.limit) || concurrency.limit < 1)) {
    throw new BelfryError(
      "BELFRY_RUN_INVALID",
      `concurrency.limit is ${concurrency.limit}; use a whole number from 1 up.`,
    )
  }
  return {
    id: checkRunId(options.id ?? clock.newId()),
    task: name,
    payload: stored,
    priority: priorityOf(options.priority),
    scheduleId: null,
    scheduledFor: null,
    triggeredBy: "api",
    trigger: null,
    missed: null,
    // Prefixed, so that no key of a user's can meet one of a schedule's.
    liveKey: key === undefined ? null : `key:${key}`,
    concurrencyKey: concurrency === undefined ? null : `key:${concurrency.key}`,
    concurrencyLimit: concurrency?.limit ?? null,
    retry: retry === undefined ? null : defineRetry(retry),
    timeoutMs: timeout === undefined ? null : parseDuration(timeout, "timeout"),
    reason: null,
    by: options.by ?? null,
    state: "pending",
    delayMs: options.delay === undefined ? 0 : parseDuration(options.delay, "delay"),
    notBefore: options.at === undefined ? null : parseInstant(options.at, "at"),
    message: null,
  }
}

function checkRunId(id: string): string {
  if (typeof id === "string" && /^[\w.:@~+/-]{1,300}$/.test(id)) return id
  throw new BelfryError(
    "BELFRY_RUN_INVALID",
    `Run id ${JSON.stringify(id)} is not valid: use 1 to 300 letters, digits and "_", "-", ".", ":", "@", "~", "+", "/".`,
  )
}
