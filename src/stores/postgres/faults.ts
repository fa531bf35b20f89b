import { BelfryError, type ErrorCode } from "../../core/errors.ts"

/** SQLSTATEs that Belfry handles by name; https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const SQLSTATE = {
  UNIQUE: "23505",
  SERIALIZATION: "40001",
  DEADLOCK: "40P01",
  LOCK_TIMEOUT: "55P03",
} as const

/** How messages name the database of a pool, which has no address. */
export const UNNAMED = "the database"

export function sqlstateOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null | undefined)?.code
  // Every SQLSTATE has a digit. EPIPE, a code of the system, has none.
  return typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : null
}

/** The statement changed nothing, and a retry may succeed. */
export function isWorthRepeating(error: unknown): boolean {
  const code = sqlstateOf(error)
  return code === SQLSTATE.SERIALIZATION || code === SQLSTATE.DEADLOCK
}

/** The statement changed nothing: another transaction holds a lock on a row or a table for too long. */
export function isLockTimeout(error: unknown): boolean {
  return sqlstateOf(error) === SQLSTATE.LOCK_TIMEOUT
}

/** The statement changed nothing: another row has the same id, live key or slot. */
export function isUniqueViolation(error: unknown): boolean {
  return sqlstateOf(error) === SQLSTATE.UNIQUE
}

/** Data exceptions, broken constraints and program limits: the value is invalid, and a retry would fail too. */
function isDataError(code: string | null): boolean {
  return code !== null && code !== SQLSTATE.UNIQUE && /^(22|23|54)/.test(code)
}

/** Translates an error of the driver or of the server into a BelfryError. Returns any other error unchanged. */
export function faultOf(error: unknown, where: string): unknown {
  if (error instanceof BelfryError || !(error instanceof Error)) return error
  const code = sqlstateOf(error)
  if (code === null && !isConnectionError(error)) return error
  const [name, text, remedy] = describe(code ?? driverErrorCode(error), where)
  return new BelfryError(name, `${text} PostgreSQL reported: ${error.message}.`, {
    details: { sqlstate: code },
    cause: error,
    ...(remedy === undefined ? {} : { remedy }),
  })
}

/** The code for an error that the driver finds before it asks the server. */
function driverErrorCode(error: Error): string | null {
  // The driver has no password to answer with.
  if (error.message.startsWith("SASL")) return "28P01"
  if (NOT_POSTGRES.test(error.message)) return "NOT_POSTGRES"
  return (error as { code?: unknown }).code === "ERR_INVALID_URL" ? "ERR_INVALID_URL" : null
}

/** How the driver's message begins if the reply is not in PostgreSQL's protocol. */
const NOT_POSTGRES = /^received (invalid response|unexpected)/i

function isConnectionError(error: Error): boolean {
  const code = (error as { code?: unknown }).code
  return (
    typeof code === "string" ||
    NOT_POSTGRES.test(error.message) ||
    /connect|terminat|timeout|socket|closed|ended|^SASL|end on the pool/i.test(error.message)
  )
}

function describe(
  code: string | null,
  where: string,
): readonly [code: ErrorCode, text: string, remedy?: string] {
  if (isDataError(code))
    return ["BELFRY_STORE_REFUSED", `A value can't be stored in ${where}; nothing of its record was stored.`]
  switch (code) {
    case "53100":
      return ["BELFRY_STORE_FULL", `There is no room to write on ${where}; nothing was changed.`]
    case SQLSTATE.LOCK_TIMEOUT:
      return [
        "BELFRY_STORE_UNAVAILABLE",
        `Another transaction on ${where} holds a lock that this call needs; nothing was changed.`,
        "Find the transaction in pg_stat_activity and end it, or try again later.",
      ]
    case "25006":
      return ["BELFRY_STORE_READ_ONLY", `${where} can't be written to: it is a standby, or set to read only.`]
    case "28000":
    case "28P01":
      return [
        "BELFRY_STORE_UNFIT",
        `${where} refuses this user or password.`,
        "Check the user and the password in the address, and the server's pg_hba.conf.",
      ]
    case "ERR_INVALID_URL":
      return [
        "BELFRY_STORE_UNFIT",
        "The database's URL can't be read.",
        "Write postgres://user:password@host/database.",
      ]
    case "NOT_POSTGRES":
      return [
        "BELFRY_STORE_UNFIT",
        `${where} is not a PostgreSQL server.`,
        "Check the host and the port in the address.",
      ]
    case "3D000":
      return [
        "BELFRY_STORE_UNFIT",
        where === UNNAMED
          ? "The database that the pool connects to doesn't exist."
          : `The database of ${where} doesn't exist.`,
        "Create it first (createdb NAME), or name another in the address.",
      ]
    case "42501":
      return [
        "BELFRY_STORE_UNFIT",
        `This user may not do that on ${where}.`,
        "Grant it what PostgreSQL names, or let the owner of the schema run: belfry migrate",
      ]
    case "42P01":
    case "42883":
    case "42703":
    case "3F000":
      return [
        "BELFRY_STORE_UNFIT",
        `Belfry's schema on ${where} is incomplete.`,
        "Run: belfry migrate. If tables were dropped by hand, restore a backup.",
      ]
    default:
      return ["BELFRY_STORE_UNAVAILABLE", `${where} can't be used.`]
  }
}
