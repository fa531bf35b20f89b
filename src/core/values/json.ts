import { BelfryError } from "../errors.ts"
import { shown } from "./shown.ts"

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** For values read from JSON: whether the value is an object, not null and not a list. */
export function isJsonObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export const PAYLOAD_MAX_BYTES = 1_048_576

/** Databases have different limits of nesting. No useful payload is nested this deep. */
export const JSON_DEPTH_MAX = 64

/** The total number of object keys. Writing a million keys takes seconds and blocks the process. */
export const JSON_KEYS_MAX = 10_000

/** A private copy that every store can keep. Values that JSON can't represent are refused instead of silently lost. */
export function toPayload(value: unknown, what: string): Json {
  const json = stringified(value, what)
  const bytes = Buffer.byteLength(json)
  if (bytes > PAYLOAD_MAX_BYTES) throw tooLarge(what, `${bytes}`, bytes)
  if (isUnstorable(json)) {
    const why = "PostgreSQL accepts neither NUL nor an unpaired surrogate"
    throw invalid(`${what} contains text that can't be stored: ${why}.`)
  }
  if (isTooDeep(json)) throw invalid(`${what} is nested deeper than ${JSON_DEPTH_MAX} levels.`)
  return JSON.parse(json) as Json
}

function stringified(value: unknown, what: string): string {
  let json: string | undefined
  try {
    json = JSON.stringify(value ?? null, jsonReplacer(what))
  } catch (cause) {
    if (cause instanceof BelfryError) throw cause
    const why = cause instanceof Error ? String(cause) : shown(cause)
    throw invalid(`${what} can't be written as JSON: ${why}.`, cause)
  }
  if (json !== undefined) return json
  throw invalid(`${what} is a ${typeof value}, which JSON can't hold.`)
}

/** The option is always `payload`: only payloads are checked here. */
function invalid(text: string, cause?: unknown): BelfryError {
  return new BelfryError("BELFRY_PAYLOAD_INVALID", text, { details: { option: "payload" }, cause })
}

function tooLarge(what: string, found: string, bytes: number): BelfryError {
  return new BelfryError(
    "BELFRY_PAYLOAD_TOO_LARGE",
    `${what} has ${found} bytes as JSON; at most ${PAYLOAD_MAX_BYTES} are stored.`,
    { details: { option: "payload", bytes, limit: PAYLOAD_MAX_BYTES } },
  )
}

/** NUL and unpaired surrogates in JSON text, where they are always escapes. `\u0000` after an odd number of `\` is plain text. */
const UNSTORABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g

function isUnstorable(json: string): boolean {
  // The search for any escape is much faster, and most payloads have none.
  return json.includes("\\u") && json.search(UNSTORABLE) >= 0
}

/** For values that must not be refused (results, log lines): replaces characters that can't be stored by U+FFFD. */
export function storableJson(json: string): string {
  return json.replaceAll(UNSTORABLE, "$1\\ufffd")
}

/** Scans the text instead of walking the value, so that deep nesting can't overflow the stack. */
export function isTooDeep(json: string, max = JSON_DEPTH_MAX): boolean {
  // Each level takes two brackets.
  if (json.length <= 2 * max) return false
  let depth = 0
  let isInString = false
  for (let index = 0; index < json.length; index++) {
    const character = json[index]
    if (isInString) {
      if (character === "\\") index++
      else if (character === '"') isInString = false
    } else if (character === '"') isInString = true
    else if (character === "[" || character === "{") {
      if (++depth > max) return true
    } else if (character === "]" || character === "}") depth--
  }
  return false
}

/** The depth allowed for a record that contains a payload. */
const RECORD_DEPTH_MAX = JSON_DEPTH_MAX + 8

/**
 * Parses JSON read from a store. JSON deeper than our checks allow was written by another program. It could be neither stored
 * again nor shown, so it counts as invalid.
 */
export function storedJson<T>(text: string): T {
  if (hasManyBrackets(text) && isTooDeep(text, RECORD_DEPTH_MAX))
    throw new SyntaxError(`it is nested deeper than ${RECORD_DEPTH_MAX} levels`)
  return JSON.parse(text) as T
}

/** A quick check before the full scan. Nearly all texts have few brackets. */
function hasManyBrackets(text: string): boolean {
  if (text.length <= 2 * RECORD_DEPTH_MAX) return false
  let count = 0
  for (const bracket of ["[", "{"]) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1))
      if (++count > RECORD_DEPTH_MAX) return true
  }
  return false
}

/** Refuses values that JSON would write as null or leave out, and stops early if there are too many keys or bytes. */
function jsonReplacer(what: string) {
  let keys = 0
  let minBytes = 0
  return function refuse(this: unknown, key: string, value: unknown): unknown {
    if (typeof value === "number" && !Number.isFinite(value))
      throw new TypeError(`${key || "it"} is ${value}`)
    const isLost = key !== "" && (typeof value === "function" || typeof value === "symbol")
    if (isLost) throw new TypeError(`${key} is a ${typeof value}`)
    const unsupported = unsupportedIn(this, key, value)
    if (unsupported !== null) throw new TypeError(`${key || "it"} is ${unsupported}`)
    if (!Array.isArray(this) && ++keys > JSON_KEYS_MAX + 1) {
      const problem = `${what} has more than ${JSON_KEYS_MAX} keys`
      throw invalid(`${problem}; store the data elsewhere and pass a reference.`)
    }
    // An element takes at least one byte and a comma; a string takes at least its characters.
    minBytes += typeof value === "string" ? value.length : 2
    if (minBytes > PAYLOAD_MAX_BYTES + 2) throw tooLarge(what, `more than ${PAYLOAD_MAX_BYTES}`, minBytes)
    return value
  }
}

/** The objects that JSON can represent. It writes others as `{}`. Boxed values are written as the value they contain. */
const JSON_TAGS = new Set(["Object", "Array", "String", "Number", "Boolean"])

/** Describes a value that JSON can't represent: a map, a set, an unawaited promise, an invalid date. Null if it can. */
function unsupportedIn(holder: unknown, key: string, value: unknown): string | null {
  if (value === null) {
    const given = (holder as Record<string, unknown>)[key]
    return given instanceof Date ? shown(given) : null
  }
  if (typeof value !== "object") return null
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1)
  return JSON_TAGS.has(tag) ? null : `of type ${tag}`
}

/** JSON with sorted keys, so that equal definitions have equal text. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonicalJson(entry)}`).join(",")}}`
}
