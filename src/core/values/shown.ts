/** A short description of any value, for an error message. Never throws. At most one line. */
export function shown(value: unknown): string {
  try {
    return wordsFor(value)
  } catch {
    // A revoked proxy, or an object with methods that throw.
    return "an unreadable object"
  }
}

/** The beginning of a stored value, as JSON. */
export function shownJson(value: unknown): string {
  // JSON writes NaN and Infinity as null.
  if (typeof value === "number") return String(value)
  try {
    return JSON.stringify(value)?.slice(0, SHOWN_MAX) ?? "missing"
  } catch {
    // Nested too deep for `JSON.stringify`.
    return shown(value)
  }
}

/** `String(value)`, or a short description if that throws. For messages that must never throw. */
export function textFrom(value: unknown): string {
  try {
    return String(value)
  } catch {
    return shown(value)
  }
}

/** For the details of an error: a short value unchanged, others as `shown`. */
export function plain(value: unknown): unknown {
  const isShort = typeof value === "string" ? value.length <= SHOWN_MAX : false
  return isShort || typeof value === "number" || typeof value === "boolean" ? value : shown(value)
}

const SHOWN_MAX = 80

function wordsFor(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.length > SHOWN_MAX ? `${value.slice(0, SHOWN_MAX)}…` : value)
    case "bigint":
      return `${String(value).slice(0, SHOWN_MAX)}n`
    case "symbol":
      return "a symbol"
    case "function":
      return "a function"
    case "object":
      return value === null ? "null" : objectWords(value)
    default:
      return String(value)
  }
}

function objectWords(value: object): string {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (!(value instanceof Date)) return "an object"
  const time = value.getTime()
  return Number.isNaN(time) ? "an invalid Date" : value.toISOString()
}
