import type { IncomingHttpHeaders } from "node:http"
import { formatDuration } from "../../core/time/duration.ts"
import type { Json } from "../../core/values/json.ts"
import { storable } from "../../core/values/thrown.ts"
import type { Clock } from "../../runtime/clock.ts"
import { DoNotRetry, RetryAfter } from "../../task/retry-errors.ts"
import { mapLeaves } from "./environment.ts"
import { BODY_MAX_BYTES, type HttpAnswer } from "./http-exchange.ts"
import { type ExpectedStatus, isExpected } from "./http-payload.ts"
import type { Redaction } from "./redaction.ts"

/** The parts of an answer that are stored as the run's `details`. */
export interface HttpDetails {
  readonly status: number
  /** Headers about the body, its location, the server, and when to retry. Never cookies. */
  readonly headers: Readonly<Record<string, string>>
  /** Parsed if it is JSON, otherwise text. Null: it was empty, compressed or not text. */
  readonly body: Json
  /** True if the body was longer than the part that is kept. */
  readonly isCut: boolean
}

const KEPT_HEADERS = [
  ...["content-type", "content-length", "content-encoding", "date", "etag", "last-modified", "location"],
  ...["retry-after", "server", "x-request-id", "x-correlation-id", "traceresponse"],
]
const HEADER_MAX_BYTES = 1_024
const JSON_DEPTH_MAX = 64
const THROTTLING: readonly number[] = [429, 502, 503, 504]
/** Limit of `retry-after`, so that a server can't postpone a run for ever. */
const RETRY_AFTER_MAX_MS = 24 * 60 * 60 * 1_000
const RETRY_AFTER_MIN_MS = 1_000

/** The run's result for an answer, by the rules of Standard Webhooks. */
export function resultOf(
  details: HttpDetails,
  about: { call: string; expected: ExpectedStatus; clock: Clock },
): { success: boolean; message: string; details: HttpDetails } {
  const { status, headers } = details
  const message = `${about.call} answered ${status}`
  if (isExpected(status, about.expected)) return { success: true, message, details }
  if (status === 410) throw new DoNotRetry(`${message}: the resource is permanently gone`, { details })
  const afterMs = THROTTLING.includes(status) ? retryAfterOf(headers["retry-after"], about.clock) : null
  if (afterMs !== null)
    throw new RetryAfter(afterMs, {
      message: `${message} and asks to wait ${formatDuration(afterMs)}`,
      details,
    })
  const isRedirect = status >= 300 && status < 400
  return { success: false, message: isRedirect ? `${message}; redirects are not followed` : message, details }
}

/** Reads seconds or a date. Null: it is neither, and the retry policy decides. */
function retryAfterOf(header: string | undefined, clock: Clock): number | null {
  const text = header?.trim() ?? ""
  const afterMs = /^\d{1,10}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - clock.now()
  if (Number.isNaN(afterMs)) return null
  return Math.min(RETRY_AFTER_MAX_MS, Math.max(RETRY_AFTER_MIN_MS, afterMs))
}

export function detailsOf({ status, headers, body, isCut }: HttpAnswer, redaction: Redaction): HttpDetails {
  const kept = KEPT_HEADERS.flatMap((name) => {
    const value = headers[name]
    return typeof value === "string" ? [[name, storable(redaction.text(value), HEADER_MAX_BYTES)]] : []
  })
  return { status, headers: Object.fromEntries(kept), body: bodyOf(headers, body, isCut, redaction), isCut }
}

function bodyOf(headers: IncomingHttpHeaders, body: Buffer, isCut: boolean, redaction: Redaction): Json {
  const encoding = headers["content-encoding"] ?? "identity"
  if (body.length === 0 || encoding.toLowerCase() !== "identity") return null
  const type = headers["content-type"] ?? "text/plain"
  if (/[/+]json\b/i.test(type) && !isCut) {
    const parsed = parseShallow(body.toString("utf8"))
    if (parsed !== undefined)
      return mapLeaves(parsed, {
        text: (text) => plain(redaction.text(text)),
        number: (number) => redaction.number(number),
      })
  }
  if (!/^text\/|[/+](json|xml|javascript|yaml|x-www-form-urlencoded)\b/i.test(type)) return null
  const text = body.toString("utf8")
  return storable(isCut ? redaction.cutText(text) : redaction.text(text), BODY_MAX_BYTES)
}

/** Undefined: the text isn't JSON, or is nested so deeply that it may be an attack. */
function parseShallow(text: string): Json | undefined {
  try {
    const parsed = JSON.parse(text) as Json
    return isShallow(parsed, JSON_DEPTH_MAX) ? parsed : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isShallow(value: Json, left: number): boolean {
  if (value === null || typeof value !== "object") return true
  return left > 0 && Object.values(value).every((each: Json) => isShallow(each, left - 1))
}

/** PostgreSQL can't store NUL, not even in JSON, and no store can keep an unpaired surrogate. */
function plain(text: string): string {
  return text.replaceAll("\u0000", "\uFFFD").toWellFormed()
}
