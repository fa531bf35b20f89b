import { BelfryError } from "../../core/errors.ts"
import { type Duration, formatDuration, parseDuration } from "../../core/time/duration.ts"
import type { Json } from "../../core/values/json.ts"
import type { StandardSchema } from "../../core/values/standard-schema.ts"
import { type Issues, isRecord, kindOf, refuseUnknown, schemaOf } from "../schema.ts"
import { originOf, referencesIn } from "./environment.ts"

/** The payload of the http task. */
export interface HttpPayload {
  /** `http:` or `https:`. `{{env.NAME}}` is replaced by a variable of the worker, also in header values and in the body. */
  readonly url: string
  /** Default: `POST` with a body, `GET` without. */
  readonly method?: HttpMethod
  readonly headers?: Readonly<Record<string, string>>
  /** A string is sent as it is, any other value as JSON. */
  readonly body?: Json
  /** For the whole request, from name resolution to the end of the answer. Default and maximum: the task's timeout. */
  readonly timeout?: Duration
  /** The statuses that count as success. Default 200 to 299. */
  readonly expectStatus?: ExpectedStatus
  /** The name of the variable with the signing secrets of Standard Webhooks. */
  readonly secret?: string
}

export type HttpMethod = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS"

export type ExpectedStatus = number | readonly number[] | { readonly from: number; readonly to: number }

/** The payload as the task's code gets it, with all fields set. References to variables are not filled in yet. */
export interface HttpCall {
  readonly url: string
  readonly method: HttpMethod
  readonly headers: Readonly<Record<string, string>>
  /** Null: no body. */
  readonly body: Json
  readonly timeoutMs: number
  readonly expectStatus: ExpectedStatus
  readonly secret: string | null
}

export interface HttpPayloadRules {
  readonly timeoutMs: number
  readonly env: ReadonlySet<string>
  /** Why a URL can't be called, as far as that is known without resolving its host. Null: no reason. */
  readonly refusalOf: (url: URL) => string | null
}

const FIELDS = ["url", "method", "headers", "body", "timeout", "expectStatus", "secret"]
const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
const WITHOUT_BODY: readonly string[] = ["GET", "HEAD"]
const URL_MAX_LENGTH = 8_192
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/
const HEADERS_MAX = 64
const HEADER_MAX_LENGTH = 8_192

/** Headers of the connection, and headers that the task itself sets. */
const RESERVED_HEADERS: readonly string[] = [
  ...["host", "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade", "expect", "te"],
  ...["trailer", "idempotency-key", "webhook-id", "webhook-timestamp", "webhook-signature"],
]

export function httpPayloadSchema(rules: HttpPayloadRules): StandardSchema<HttpPayload, HttpCall> {
  return schemaOf((value, issues) => {
    refuseUnknown(value, FIELDS, issues)
    const body = (value["body"] ?? null) as Json
    const method = readMethod(value["method"], body, issues)
    const call: HttpCall = {
      url: readUrl(value["url"], rules, issues),
      method,
      headers: readHeaders(value["headers"], issues),
      body,
      timeoutMs: readTimeout(value["timeout"], rules.timeoutMs, issues),
      expectStatus: readStatus(value["expectStatus"], issues),
      secret: readSecret(value["secret"], rules, issues),
    }
    refuseReferences(call, rules.env, issues)
    return call
  })
}

function readUrl(value: unknown, { refusalOf }: HttpPayloadRules, issues: Issues): string {
  if (typeof value !== "string") {
    issues.add("url", `expected a string, received ${kindOf(value)}`)
    return ""
  }
  if (value.length > URL_MAX_LENGTH) issues.add("url", `is longer than ${URL_MAX_LENGTH} characters`)
  // A URL parser drops these silently, so the URL that is called would differ from the one that was written.
  if (CONTROL_CHARACTER.test(value)) issues.add("url", "contains a line break or another control character")
  // An origin that comes from a variable is checked at the run, when its value is known.
  if (referencesIn(originOf(value)).length > 0) return value
  const url = URL.canParse(value) ? new URL(value) : null
  const refusal = url === null ? "is not a URL; write https://example.com/path" : refusalOf(url)
  if (refusal !== null) issues.add("url", refusal)
  return value
}

function readMethod(value: unknown, body: Json, issues: Issues): HttpMethod {
  const method = value ?? (body === null ? "GET" : "POST")
  if (typeof method !== "string" || !METHODS.includes(method))
    issues.add("method", `expected one of ${METHODS.join(", ")}`)
  else if (body !== null && WITHOUT_BODY.includes(method)) issues.add("body", `${method} sends no body`)
  return method as HttpMethod
}

function readHeaders(value: unknown, issues: Issues): Readonly<Record<string, string>> {
  if (value === undefined) return {}
  if (!isRecord(value)) {
    issues.add("headers", `expected an object, received ${kindOf(value)}`)
    return {}
  }
  const entries = Object.entries(value)
  if (entries.length > HEADERS_MAX) issues.add("headers", `has more than ${HEADERS_MAX} headers`)
  for (const [name, text] of entries.slice(0, HEADERS_MAX)) {
    const reason = refusalOfHeader(name, text)
    if (reason !== null) issues.add(["headers", name.slice(0, 80)], reason)
  }
  return value as Readonly<Record<string, string>>
}

function refusalOfHeader(name: string, text: unknown): string | null {
  const lower = name.toLowerCase()
  if (!/^[!#$%&'*+.^`|~\w-]{1,128}$/.test(name)) return "is not the name of a header"
  if (RESERVED_HEADERS.includes(lower) || lower.startsWith("proxy-")) return "can't be set by a payload"
  if (typeof text !== "string") return `expected a string, received ${kindOf(text)}`
  if (text.length > HEADER_MAX_LENGTH) return `is longer than ${HEADER_MAX_LENGTH} characters`
  return isHeaderValue(text) ? null : "contains characters that are not allowed in a header"
}

/** No line breaks, no control characters, nothing beyond Latin-1. */
export function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text)
}

/** The task's timeout is the default and the maximum. */
function readTimeout(value: unknown, taskMs: number, issues: Issues): number {
  if (value === undefined) return taskMs
  try {
    const timeoutMs = parseDuration(value as Duration, "timeout")
    if (timeoutMs > 0 && timeoutMs <= taskMs) return timeoutMs
    issues.add(
      "timeout",
      timeoutMs > 0
        ? `${JSON.stringify(value)} is more than the task allows, ${formatDuration(taskMs)}; raise \`timeout\` of the task`
        : "must be longer than 0",
    )
  } catch (error) {
    if (!(error instanceof BelfryError)) throw error
    issues.add("timeout", error.message)
  }
  return taskMs
}

const isStatus = (value: unknown) => Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599

function readStatus(value: unknown, issues: Issues): ExpectedStatus {
  if (value === undefined) return { from: 200, to: 299 }
  const isList = Array.isArray(value) && value.length > 0 && value.length <= 100 && value.every(isStatus)
  const isRange =
    isRecord(value) &&
    Object.keys(value).every((key) => key === "from" || key === "to") &&
    isStatus(value["from"]) &&
    isStatus(value["to"]) &&
    Number(value["from"]) <= Number(value["to"])
  if (!isStatus(value) && !isList && !isRange)
    issues.add(
      "expectStatus",
      'expected a status from 200 to 599, a list of them, or {"from": 200, "to": 299}',
    )
  return value as ExpectedStatus
}

function readSecret(value: unknown, { env }: HttpPayloadRules, issues: Issues): string | null {
  if (value === undefined || value === null) return null
  if (typeof value !== "string" || !env.has(value)) {
    // The value may be the secret itself, so the message doesn't repeat it.
    issues.add("secret", "expected the name of a variable in the task's `env` list, not the secret itself")
    return null
  }
  return value
}

function refuseReferences(call: HttpCall, env: ReadonlySet<string>, issues: Issues): void {
  const { url, headers, body } = call
  const texts = { url, headers: Object.values(headers).join("\n"), body: JSON.stringify(body) }
  for (const [field, text] of Object.entries(texts)) {
    const unknown = referencesIn(text).find((name) => !env.has(name))
    if (unknown !== undefined)
      issues.add(field, `refers to the variable ${unknown}, which is not in the \`env\` list of the task`)
  }
}

export function isExpected(status: number, expected: ExpectedStatus): boolean {
  if (typeof expected === "number") return status === expected
  return "from" in expected ? status >= expected.from && status <= expected.to : expected.includes(status)
}
