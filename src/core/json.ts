import { BelfryError } from "./errors.ts"
import { shown } from "./shown.ts"

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export const PAYLOAD_MAX_BYTES = 1_048_576

/** Databases give up at depths that differ; nobody means to nest this deep. */
export const JSON_DEPTH_MAX = 64

/** Keys of objects, in all. Writing a million takes seconds, in which nothing else happens in this process. */
export const JSON_KEYS_MAX = 10_000

/** A private copy in the form every store can keep; what JSON can't say is refused rather than lost. */
export function toPayload(value: unknown, what: string): Json {
  const json = written(value, what)
  const bytes = Buffer.byteLength(json)
  if (bytes > PAYLOAD_MAX_BYTES) throw tooLarge(what, `${bytes}`, bytes)
  if (unkept(json)) {
    const why = "PostgreSQL keeps neither NUL nor half of a character"
    throw invalid(`${what} holds a text that no store keeps as it is: ${why}.`)
  }
  if (isTooDeep(json)) throw invalid(`${what} is nested deeper than ${JSON_DEPTH_MAX} levels.`)
  return JSON.parse(json) as Json
}

function written(value: unknown, what: string): string {
  let json: string | undefined
  try {
    json = JSON.stringify(value ?? null, refusingUnsayable(what))
  } catch (cause) {
    if (cause instanceof BelfryError) throw cause
    const why = cause instanceof Error ? String(cause) : shown(cause)
    throw invalid(`${what} can't be written as JSON: ${why}.`, cause)
  }
  if (json !== undefined) return json
  throw invalid(`${what} is a ${typeof value}, which JSON can't hold.`)
}

/** Whatever is stored as JSON for a task is its payload. */
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

/** Of JSON text: NUL and lone surrogates, which are always written as escapes there. An even number of \ before is text. */
const UNKEPT = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g

function unkept(json: string): boolean {
  return json.search(UNKEPT) >= 0
}

/** For what must not be refused (a result, a log line): what no store keeps as it is becomes a mark. */
export function storableJson(json: string): string {
  return json.replaceAll(UNKEPT, "$1\\ufffd")
}

/** Reads the text, not the value: that takes no stack, however deep it is. */
export function isTooDeep(json: string, max = JSON_DEPTH_MAX): boolean {
  let depth = 0
  let isInText = false
  for (let index = 0; index < json.length; index++) {
    const character = json[index]
    if (isInText) {
      if (character === "\\") index++
      else if (character === '"') isInText = false
    } else if (character === '"') isInText = true
    else if (character === "[" || character === "{") {
      if (++depth > max) return true
    } else if (character === "]" || character === "}") depth--
  }
  return false
}

/** How deep a record may be that holds a payload. */
const RECORD_DEPTH_MAX = JSON_DEPTH_MAX + 8

/**
 * JSON that a store has kept. What is nested deeper than any door lets in was written past them, and could neither be stored again
 * nor be shown: it is as good as no JSON.
 */
export function storedJson<T>(text: string): T {
  if (hasManyBrackets(text) && isTooDeep(text, RECORD_DEPTH_MAX))
    throw new SyntaxError(`it is nested deeper than ${RECORD_DEPTH_MAX} levels`)
  return JSON.parse(text) as T
}

/** Nearly no text has, and these are counted quickly. */
function hasManyBrackets(text: string): boolean {
  if (text.length <= 2 * RECORD_DEPTH_MAX) return false
  let count = 0
  for (const bracket of ["[", "{"]) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1))
      if (++count > RECORD_DEPTH_MAX) return true
  }
  return false
}

/** Refuses what JSON would write as null or leave out, and gives up early on what is too much anyway. */
function refusingUnsayable(what: string) {
  let keys = 0
  let least = 0
  return function refuse(this: unknown, key: string, value: unknown): unknown {
    if (typeof value === "number" && !Number.isFinite(value))
      throw new TypeError(`${key || "it"} is ${value}`)
    const isLost = key !== "" && (typeof value === "function" || typeof value === "symbol")
    if (isLost) throw new TypeError(`${key} is a ${typeof value}`)
    const unsaid = unsaidIn(this, key, value)
    if (unsaid !== null) throw new TypeError(`${key || "it"} is ${unsaid}`)
    if (!Array.isArray(this) && ++keys > JSON_KEYS_MAX + 1) {
      const problem = `${what} has more than ${JSON_KEYS_MAX} keys`
      throw invalid(`${problem}; store the data elsewhere and pass a reference.`)
    }
    // An element takes a byte and its comma at least, a text its characters.
    least += typeof value === "string" ? value.length : 2
    if (least > PAYLOAD_MAX_BYTES + 2) throw tooLarge(what, `more than ${PAYLOAD_MAX_BYTES}`, least)
    return value
  }
}

/** What JSON knows of an object, besides lists and dates; others it writes as `{}`. Boxed values are written as what they hold. */
const SAYABLE = new Set(["Object", "Array", "String", "Number", "Boolean"])

/** A map, a set, a promise that nobody waited for, an invalid date: in words, or null if JSON can say it. */
function unsaidIn(holder: unknown, key: string, value: unknown): string | null {
  if (value === null) {
    const given = (holder as Record<string, unknown>)[key]
    return given instanceof Date ? shown(given) : null
  }
  if (typeof value !== "object") return null
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1)
  return SAYABLE.has(tag) ? null : `of type ${tag}`
}

/** Same text for the same meaning: keys in order, so that two definitions can be compared. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonicalJson(entry)}`).join(",")}}`
}
