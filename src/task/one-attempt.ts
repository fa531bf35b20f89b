import { type OptionPath, refusal } from "../core/options/checked.ts"
import type { RetryPolicy } from "../core/run/backoff.ts"
import type { Delivery } from "../core/run/delivery.ts"

/** Refuses several attempts for a task that is performed at most once. They would be ignored. `retry`: as given, if it is. */
export function checkAttempts(
  task: { readonly delivery?: Delivery | undefined } | undefined,
  retry: RetryPolicy | null | undefined,
  at: OptionPath,
): void {
  if (task?.delivery !== "at-most-once" || (retry?.attempts ?? 1) <= 1) return
  throw refusal(
    at,
    'has several attempts, but a task that is performed at most once has one; leave out "retry" or "delivery"',
  )
}
