import { HOUR, SECOND } from "./instant.ts"

/** How often a run is tried and how long it waits in between. */
export interface RetryPolicy {
  readonly attempts: number
  readonly backoff: "exponential" | "linear" | "fixed"
  readonly baseMs: number
  readonly maxMs: number
  /** The share of each delay left to chance: 0 none, 0.5 between half and whole. */
  readonly jitter: number
}

export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 3,
  backoff: "exponential",
  baseMs: 5 * SECOND,
  maxMs: HOUR,
  jitter: 0.25,
}

/** The wait after the given number of failures; never longer than the policy's maximum, nor shorter than its share. */
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
