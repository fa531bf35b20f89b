import { BelfryError } from "../core/errors.ts"
import type { Unstorable } from "./store.ts"

export function isUnstorable(answer: { readonly outcome: string }): answer is Unstorable {
  return answer.outcome === "unstorable"
}

/** For callers that can't handle a refusal themselves: throws it. */
export function accepted<Answer extends { readonly outcome: string }>(
  answer: Answer,
): Exclude<Answer, Unstorable> {
  if (isUnstorable(answer)) throw new BelfryError("BELFRY_STORE_REFUSED", answer.why)
  return answer as Exclude<Answer, Unstorable>
}
