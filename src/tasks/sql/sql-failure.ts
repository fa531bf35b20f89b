import type { Json } from "../../core/json.ts"
import { storable } from "../../core/thrown.ts"

/** What went wrong with a function, in words for the run, and in parts for its details. */
export class SqlFailure extends Error {
  override readonly name = "SqlFailure"
  readonly details: Json

  constructor(message: string, details: Json = null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.details = details
  }
}

const PART_MAX_BYTES = 2_048

/** An error of the server or the driver as a run records it: `ERROR 23505: duplicate key …`, then what else was said. */
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
  const said = error as { severity?: unknown; detail?: unknown; hint?: unknown; where?: unknown }
  const parts = { detail: partOf(said.detail), hint: partOf(said.hint), context: contextOf(said.where) }
  const lines = [
    `${partOf(said.severity) ?? "ERROR"} ${code}: ${storable(message, PART_MAX_BYTES)}`,
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

/** https://www.postgresql.org/docs/current/errcodes-appendix.html; null if the server didn't say it. */
export function sqlstateOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code
  // Node's own codes, such as EPIPE, can be as long; the server's errors also have a severity.
  const isServers = typeof (error as { severity?: unknown } | null)?.severity === "string"
  return isServers && typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : null
}

/** Node's errors for several addresses have a code and no message. */
function codeOf(error: Error): string {
  return String((error as { code?: unknown }).code ?? error.name)
}

function partOf(part: unknown): string | null {
  return typeof part === "string" && part !== "" ? storable(part, PART_MAX_BYTES) : null
}

/** Where in the function it happened. The statements that the server quotes there stay out of records. */
function contextOf(where: unknown): string | null {
  const place = typeof where === "string" ? /^PL\/pgSQL function .* line \d+ at .*$/m.exec(where) : null
  return partOf(place?.[0])
}
