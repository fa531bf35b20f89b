import { type Duration, parseDuration } from "../core/time/duration.ts"

/** Thrown by a task: the run fails and is not retried. */
export class DoNotRetry extends Error {
  override readonly name = "DoNotRetry"
  /** Kept as the run's `details`. */
  readonly details: unknown

  constructor(message?: string, options: { cause?: unknown; details?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.details = options.details
  }
}

/** Thrown by a task: the run is retried after this delay. */
export class RetryAfter extends Error {
  override readonly name = "RetryAfter"
  readonly afterMs: number
  /** Kept as the run's `details`. */
  readonly details: unknown

  constructor(delay: Duration, options: { message?: string; cause?: unknown; details?: unknown } = {}) {
    super(
      options.message ?? `Retry after ${delay}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.afterMs = parseDuration(delay, "RetryAfter delay")
    this.details = options.details
  }
}
