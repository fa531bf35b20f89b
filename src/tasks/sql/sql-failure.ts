import type { Json } from "../../core/values/json.ts"
import { storable } from "../../core/values/thrown.ts"

/** A failure of a function: the message is for the run's error, the parts are for its details. */
export class SqlFailure extends Error {
  override readonly name = "SqlFailure"
  readonly details: Json

  constructor(message: string, details: Json = null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.details = details
  }
}

const PART_MAX_BYTES = 2_048

/** An error of the server or driver as a run records it: `ERROR 23505: duplicate key …`, then detail, hint and context. */
export function failureOf(error: unknown): SqlFailure {
  if (error instanceof SqlFailure) return error
  const code = sqlstateOf(error)
  const message = error instanceof Error ? error.message || codeOf(error) : String(error)
  if (code === null)
    return new SqlFailure(
      `PostgreSQL can't be used: ${storable(message, PART_MAX_BYTES)}`,
      { sqlstate: null },
      error,
    )
  const parsed = error as { severity?: unknown; detail?: unknown; hint?: unknown; where?: unknown }
  const parts = { detail: partOf(parsed.detail), hint: partOf(parsed.hint), context: contextOf(parsed.where) }
  const lines = [
    `${partOf(parsed.severity) ?? "ERROR"} ${code}: ${storable(message, PART_MAX_BYTES)}`,
    ...Object.entries(parts).flatMap(([name, text]) =>
      text === null ? [] : [`${name.toUpperCase()}: ${text}`],
    ),
  ]
  return new SqlFailure(
    lines.join("\n"),
    { sqlstate: code, message: storable(message, PART_MAX_BYTES), ...parts },
    error,
  )
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html. Null: the error isn't from the server. */
export function sqlstateOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code
  // Node's own codes, such as EPIPE, can have the same length. Only the server's errors have a severity.
  const isFromServer = typeof (error as { severity?: unknown } | null)?.severity === "string"
  return isFromServer && typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : null
}

/** Node's errors for several addresses have a code but no message. */
function codeOf(error: Error): string {
  return String((error as { code?: unknown }).code ?? error.name)
}

function partOf(part: unknown): string | null {
  return typeof part === "string" && part !== "" ? storable(part, PART_MAX_BYTES) : null
}

/** The place in the function. The statements that the server quotes there are not recorded. */
function contextOf(where: unknown): string | null {
  const place = typeof where === "string" ? /^PL\/pgSQL function .* line \d+ at .*$/m.exec(where) : null
  return partOf(place?.[0])
}
