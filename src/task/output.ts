import { BelfryError } from "../core/errors.ts"
import { isTooDeep, JSON_DEPTH_MAX, type Json, storableJson } from "../core/json.ts"
import type { Failure, Output } from "../core/run.ts"
import { describeThrown, storable } from "../core/thrown.ts"
import { DoNotRetry, RetryAfter } from "./retry-errors.ts"

const MESSAGE_MAX_BYTES = 8_192
const DETAILS_MAX_BYTES = 1_048_576

/** What is kept of what a task returns, as its type: the `details` of a `{ success, message, details }`, or else all of it. */
export type DetailsOf<Returned> = Kept<Awaited<Returned>>

type Kept<Returned> = unknown extends Returned
  ? Json
  : Returned extends { readonly success: boolean }
    ? Returned extends { readonly details: infer Details }
      ? AsJson<Details>
      : null
    : AsJson<Returned>

/** What a function without a `return` returns. */
type Nothing = ReturnType<() => void>

/** As it comes back from JSON: a Date as text, nothing as null. */
type AsJson<Value> = unknown extends Value
  ? Json
  : Value extends string | number | boolean | null
    ? Value
    : Value extends { toJSON(): infer Written }
      ? AsJson<Written>
      : Nothing extends Value
        ? null
        : Value extends undefined | symbol | ((...given: never[]) => unknown)
          ? null
          : { readonly [Key in keyof Value]: AsJson<Exclude<Value[Key], undefined>> }

/** What a task returned: `{ success, message, details }` is understood, anything else is kept as details. */
export function outputOf(returned: unknown): { isSuccess: boolean; output: Output } {
  try {
    return understood(returned)
  } catch (error) {
    // A getter that throws. The task did return.
    return { isSuccess: true, output: { message: null, details: notStored(error) } }
  }
}

function understood(returned: unknown): { isSuccess: boolean; output: Output } {
  if (!isReport(returned)) return { isSuccess: true, output: { message: null, details: detailsOf(returned) } }
  return {
    isSuccess: returned.success,
    output: {
      message: typeof returned.message === "string" ? storable(returned.message, MESSAGE_MAX_BYTES) : null,
      details: detailsOf(returned.details),
    },
  }
}

/** Whether a task said itself that it succeeded; what it returns otherwise may be nothing at all. */
export function reportsSuccess(returned: unknown): boolean {
  try {
    return isReport(returned) && returned.success
  } catch {
    return false
  }
}

function isReport(value: unknown): value is { success: boolean; message?: unknown; details?: unknown } {
  return (
    typeof value === "object" && value !== null && "success" in value && typeof value.success === "boolean"
  )
}

/** JSON, or a note why it isn't there: a result that can't be stored is no reason to call the work undone. */
function detailsOf(value: unknown): Json {
  if (value === undefined) return null
  try {
    const text = JSON.stringify(value)
    if (text === undefined) return null
    const bytes = Buffer.byteLength(text)
    if (bytes > DETAILS_MAX_BYTES)
      return { notStored: `${bytes} bytes; at most ${DETAILS_MAX_BYTES} are kept` }
    if (isTooDeep(text)) return { notStored: `nested deeper than ${JSON_DEPTH_MAX} levels` }
    return JSON.parse(storableJson(text)) as Json
  } catch (error) {
    return notStored(error)
  }
}

function notStored(error: unknown): Json {
  return { notStored: describeThrown(error).split("\n")[0]! }
}

export const NO_OUTPUT: Output = { message: null, details: null }

/** What an error asks for beside being recorded. */
export function askedBy(thrown: unknown): Pick<Failure, "retry" | "output"> {
  try {
    if (thrown instanceof DoNotRetry) return { retry: "never", output: outputWith(thrown.details) }
    if (thrown instanceof RetryAfter)
      return { retry: { afterMs: thrown.afterMs }, output: outputWith(thrown.details) }
    // The same payload will be as wrong the next time.
    const isPayload = thrown instanceof BelfryError && thrown.code === "BELFRY_PAYLOAD_INVALID"
    return { retry: isPayload ? "never" : "policy", output: NO_OUTPUT }
  } catch {
    // Even to ask a revoked proxy what it is throws.
    return { retry: "policy", output: NO_OUTPUT }
  }
}

function outputWith(details: unknown): Output {
  return { message: null, details: detailsOf(details) }
}
