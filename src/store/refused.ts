import { BelfryError } from "../core/errors.ts"
import type { Refused } from "./store.ts"

export function isRefused(answer: { readonly outcome: string }): answer is Refused {
  return answer.outcome === "refused"
}

/** For callers that can't handle a refusal themselves: throws it. */
export function accepted<Answer extends { readonly outcome: string }>(
  answer: Answer,
): Exclude<Answer, Refused> {
  if (isRefused(answer)) throw new BelfryError("BELFRY_STORE_REFUSED", answer.why)
  return answer as Exclude<Answer, Refused>
}
