import { BelfryError } from "./errors.ts"

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export const PAYLOAD_MAX_BYTES = 1_048_576

/** A private copy in the form every store can keep; what JSON can't say is refused rather than lost. */
export function toPayload(value: unknown, what: string): Json {
  let text: string | undefined
  try {
    text = JSON.stringify(value ?? null, refuseUnsayable)
  } catch (cause) {
    throw new BelfryError("BELFRY_PAYLOAD_INVALID", `${what} can't be written as JSON: ${String(cause)}.`, {
      cause,
    })
  }
  if (text === undefined) {
    throw new BelfryError("BELFRY_PAYLOAD_INVALID", `${what} is a ${typeof value}, which JSON can't hold.`)
  }
  const bytes = Buffer.byteLength(text)
  if (bytes > PAYLOAD_MAX_BYTES) {
    throw new BelfryError(
      "BELFRY_PAYLOAD_TOO_LARGE",
      `${what} has ${bytes} bytes as JSON; at most ${PAYLOAD_MAX_BYTES} are stored.`,
      { details: { bytes, limit: PAYLOAD_MAX_BYTES } },
    )
  }
  return JSON.parse(text) as Json
}

/** JSON itself would write null, or leave the key out. */
function refuseUnsayable(key: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${key || "it"} is ${value}`)
  const isLost = key !== "" && (typeof value === "function" || typeof value === "symbol")
  if (isLost) throw new TypeError(`${key} is a ${typeof value}`)
  return value
}

/** Same text for the same meaning: keys in order, so that two definitions can be compared. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonicalJson(entry)}`).join(",")}}`
}
