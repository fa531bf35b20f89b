import { BelfryError } from "../core/errors.ts"
import type { Failure, Output } from "../core/run/run.ts"
import { isTooDeep, JSON_DEPTH_MAX, type Json, storableJson } from "../core/values/json.ts"
import { describeThrown, storable } from "../core/values/thrown.ts"
import { DoNotRetry, RetryAfter } from "./retry-errors.ts"

const MESSAGE_MAX_BYTES = 8_192
const DETAILS_MAX_BYTES = 1_048_576

/**
 * The type of a run's `details` by the task's return type: the `details` of `{ success, message, details }`, or all of it. A
 * value that can't be stored is replaced by `NotStored`.
 */
export type DetailsOf<Returned> = DetailsIn<Awaited<Returned>>

/** The details of a run whose result can't be stored: why not. The run has succeeded nevertheless. */
export interface NotStored {
  readonly notStored: string
}

/** Null, numbers and booleans can always be stored. The names of the result can be read without a check: they are undefined. */
type OrNotStored<Details> = Json extends Details
  ? Details
  : Details extends null | number | boolean
    ? Details
    : Details extends string | readonly unknown[]
      ? Details | NotStored
      : Details | (NotStored & { readonly [Name in Exclude<keyof Details, "notStored">]?: undefined })

type DetailsIn<Returned> = OrNotStored<ResultIn<Returned>>

type ResultIn<Returned> = unknown extends Returned
  ? Json
  : Returned extends { readonly success: boolean }
    ? Returned extends { readonly details: infer Details }
      ? AsJson<Details>
      : null
    : AsJson<Returned>

/** The return type of a function without a `return`. */
type Void = ReturnType<() => void>

/** The type of a value that was written and read as JSON: a Date becomes a string, `undefined` becomes null. */
type AsJson<Value> = unknown extends Value
  ? Json
  : Value extends string | number | boolean | null
    ? Value
    : Value extends { toJSON(): infer Written }
      ? AsJson<Written>
      : Void extends Value
        ? null
        : Value extends undefined | symbol | ((...given: never[]) => unknown)
          ? null
          : { readonly [Key in keyof Value]: AsJson<Exclude<Value[Key], undefined>> }

/** Reads a task's return value: a report `{ success, message, details }`, or any other value, which becomes the details. */
export function outputOf(returned: unknown): { isSuccess: boolean; output: Output } {
  try {
    return readReturned(returned)
  } catch (error) {
    // A getter threw. The task itself has returned, so the run succeeded.
    return { isSuccess: true, output: { message: null, details: notStored(error) } }
  }
}

function readReturned(returned: unknown): { isSuccess: boolean; output: Output } {
  if (!isReport(returned)) return { isSuccess: true, output: { message: null, details: detailsOf(returned) } }
  return {
    isSuccess: returned.success,
    output: {
      message: typeof returned.message === "string" ? storable(returned.message, MESSAGE_MAX_BYTES) : null,
      details: detailsOf(returned.details),
    },
  }
}

/** True if a task returned a report of success. Any other return value doesn't count. */
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

/** The value as JSON, or a note why it isn't stored. A result that can't be stored doesn't fail the run. */
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

/** The retry and the output that a thrown error asks for. */
export function retryRequestOf(thrown: unknown): Pick<Failure, "retry" | "output"> {
  try {
    if (thrown instanceof DoNotRetry) return { retry: "never", output: outputWith(thrown.details) }
    if (thrown instanceof RetryAfter)
      return { retry: { afterMs: thrown.afterMs }, output: outputWith(thrown.details) }
    // An invalid payload is still invalid at the next attempt.
    const isPayload = thrown instanceof BelfryError && thrown.code === "BELFRY_PAYLOAD_INVALID"
    return { retry: isPayload ? "never" : "policy", output: NO_OUTPUT }
  } catch {
    // `instanceof` throws for a revoked proxy.
    return { retry: "policy", output: NO_OUTPUT }
  }
}

function outputWith(details: unknown): Output {
  return { message: null, details: detailsOf(details) }
}
