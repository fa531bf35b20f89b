import { BelfryError, type ErrorCode } from "../../core/errors.ts"

/** The first word of a server's error, such as NOSCRIPT. Null for errors of the driver. */
export function refusalOf(error: unknown): string | null {
  const { name, message } = (error ?? {}) as { name?: unknown; message?: unknown }
  if (name !== "ReplyError" || typeof message !== "string") return null
  return /^[A-Z]+/.exec(message)?.[0] ?? null
}

/** Whether a key has the wrong type for a command. An error inside a script has the word in the middle of its message. */
export function isWrongType(error: unknown): boolean {
  const { message } = (error ?? {}) as { message?: unknown }
  return refusalOf(error) !== null && /WRONGTYPE/.test(String(message))
}

/** Whether the server lacks the database, or permits only database 0 to this user. */
export function isDatabaseRefused(error: unknown): boolean {
  const { message } = (error ?? {}) as { message?: unknown }
  return refusalOf(error) !== null && /DB index|SELECT is not allowed|'select' command/i.test(String(message))
}

/** The first character of a reply that is not in the Redis protocol. Null for any other error. */
function foreignReply(error: Error): string | null {
  return /(?:Unknown RESP type|Protocol error, got).*?"(.)"/s.exec(error.message)?.[1] ?? null
}

/** Translates an error of the driver or of the server into a BelfryError. Returns any other error unchanged. */
export function faultOf(error: unknown, where: string, reason: string | null): unknown {
  if (error instanceof BelfryError || !(error instanceof Error)) return error
  const letter = foreignReply(error)
  if (letter !== null) {
    const reply = letter === "H" ? "with H, like that of a web server" : `with "${letter}"`
    return new BelfryError(
      "BELFRY_STORE_UNFIT",
      `${where} is not a Redis server. The reply begins ${reply}.`,
      { cause: error, remedy: "Check the host and the port in the address." },
    )
  }
  if (isDatabaseRefused(error)) return databaseRefused(where, error.message, error)
  if (error.name === "MaxRetriesPerRequestError" && reason !== null) {
    if (/DB index/.test(reason)) return databaseRefused(where, reason, error)
    return new BelfryError("BELFRY_STORE_UNAVAILABLE", `${where} can't be reached: ${reason}.`, {
      cause: error,
    })
  }
  const refusal = refusalOf(error)
  if (refusal === null && !isConnectionError(error)) return error
  const [code, text, remedy] = describe(refusal, error.message, where)
  return new BelfryError(code, `${text} It says: ${error.message.replace(/\.+$/, "")}.`, {
    details: { refusal },
    cause: error,
    ...(remedy === undefined ? {} : { remedy }),
  })
}

function databaseRefused(where: string, said: string, cause: Error): BelfryError {
  const text = `The server refuses the database in ${where}. It says: ${said}.`
  const remedy =
    "Name a database that the server has, such as redis://host:6379/0, or raise `databases` in its configuration."
  return new BelfryError("BELFRY_STORE_UNFIT", text, { cause, remedy })
}

function isConnectionError(error: Error): boolean {
  const { code } = error as { code?: unknown }
  return (
    typeof code === "string" ||
    error.name === "MaxRetriesPerRequestError" ||
    /connect|closed|timed? ?out|socket|writeable|cluster/i.test(error.message)
  )
}

function describe(
  refusal: string | null,
  message: string,
  where: string,
): readonly [code: ErrorCode, text: string, remedy?: string] {
  // An error inside a script begins with ERR and has one of these words in the middle of its message.
  switch (
    refusal === "ERR" ? (/-?(OOM|READONLY|MISCONF|WRONGTYPE)\b/.exec(message)?.[1] ?? refusal) : refusal
  ) {
    case "OOM":
      return [
        "BELFRY_STORE_FULL",
        `${where} is out of memory; nothing was changed.`,
        "Raise the server's maxmemory, or free some memory. Belfry then continues by itself.",
      ]
    case "MISCONF":
      return ["BELFRY_STORE_FULL", `${where} can't write to its disk; nothing was changed.`]
    case "READONLY":
      return [
        "BELFRY_STORE_READ_ONLY",
        `${where} can't be written to: it is a replica.`,
        "Give the address of the primary.",
      ]
    case "RESENT":
      return ["BELFRY_STORE_UNAVAILABLE", `The connection to ${where} broke before the answer came.`]
    case "NOAUTH":
    case "WRONGPASS":
      return [
        "BELFRY_STORE_UNFIT",
        `${where} refuses this user or password.`,
        "Check the user and the password in the address: redis://user:password@host:6379/0",
      ]
    case "NOPERM":
      return ["BELFRY_STORE_UNFIT", `This user may not do that on ${where}.`, permissionRemedy(message)]
    case "WRONGTYPE":
      return [
        "BELFRY_STORE_UNFIT",
        `A key of Belfry on ${where} is of the wrong type.`,
        "Choose another prefix, such as redis://host:6379/0?prefix=belfry2.",
      ]
    default:
      return ["BELFRY_STORE_UNAVAILABLE", `${where} can't be used.`]
  }
}

/** The server's message names the command, or says that a key or a channel is forbidden. */
function permissionRemedy(message: string): string {
  const command = /run the '([\w|-]+)' command/.exec(message)?.[1]
  if (command !== undefined) return `Let this user run it: ACL SETUSER <user> +${command}`
  const isChannel = /channel/i.test(message)
  return isChannel
    ? "Let this user use Belfry's channels: ACL SETUSER <user> &{belfry}* (or the prefix of the address)"
    : "Let this user use Belfry's keys: ACL SETUSER <user> ~{belfry}* (or the prefix of the address)"
}
