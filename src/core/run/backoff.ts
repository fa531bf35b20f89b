import { HOUR, SECOND } from "../time/instant.ts"

/** How many attempts a run has, and the delay between them. */
export interface RetryPolicy {
  readonly attempts: number
  readonly backoff: "exponential" | "linear" | "fixed"
  readonly baseMs: number
  readonly maxMs: number
  /** The random share of each delay. 0: none. 0.5: the delay is between half and all of its length. */
  readonly jitter: number
}

export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 3,
  backoff: "exponential",
  baseMs: 5 * SECOND,
  maxMs: HOUR,
  jitter: 0.25,
}

/** The delay after the given number of failures, at most `maxMs`. `chance` in [0, 1) shortens it by up to the share `jitter`. */
export function nextDelayMs(policy: RetryPolicy, failures: number, chance: number): number {
  const factor =
    policy.backoff === "exponential"
      ? 2 ** Math.min(failures - 1, 52)
      : policy.backoff === "linear"
        ? failures
        : 1
  const delayMs = Math.min(policy.baseMs * factor, policy.maxMs)
  return Math.round(delayMs * (1 - policy.jitter * chance))
}
