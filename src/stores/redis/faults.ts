import { BelfryError, type ErrorCode } from "../../core/errors.ts"

/** The word a server's refusal begins with, such as NOSCRIPT; null for what the driver says itself. */
export function refusalOf(error: unknown): string | null {
  const { name, message } = (error ?? {}) as { name?: unknown; message?: unknown }
  if (name !== "ReplyError" || typeof message !== "string") return null
  return /^[A-Z]+/.exec(message)?.[0] ?? null
}

/** A key holds something else than a command is for; a script says so in the middle of its own message. */
export function isWrongType(error: unknown): boolean {
  const { message } = (error ?? {}) as { message?: unknown }
  return refusalOf(error) !== null && /WRONGTYPE/.test(String(message))
}

/** The server has no such database, or lets this user have database 0 only. */
export function isDatabaseRefused(error: unknown): boolean {
  const { message } = (error ?? {}) as { message?: unknown }
  return refusalOf(error) !== null && /DB index|SELECT is not allowed|'select' command/i.test(String(message))
}

/** The first letter of an answer that is none of Redis's; null for any other error. */
function strangeAnswer(error: Error): string | null {
  return /(?:Unknown RESP type|Protocol error, got).*?"(.)"/s.exec(error.message)?.[1] ?? null
}

/** What the driver or the server said, in words that say what to do. Whatever is not theirs is passed on as it is. */
export function faultOf(error: unknown, where: string, reason: string | null): unknown {
  if (error instanceof BelfryError || !(error instanceof Error)) return error
  const letter = strangeAnswer(error)
  if (letter !== null) {
    const who =
      letter === "H" ? "a web server, by its first letter H" : `something that begins with "${letter}"`
    return new BelfryError(
      "BELFRY_STORE_UNFIT",
      `${where} is no Redis server. What answers there is ${who}.`,
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
  if (refusal === null && !isOfConnection(error)) return error
  const [code, text, remedy] = describe(refusal, error.message, where)
  return new BelfryError(code, `${text} It says: ${error.message.replace(/\.+$/, "")}.`, {
    details: { refusal },
    cause: error,
    ...(remedy === undefined ? {} : { remedy }),
  })
}

function databaseRefused(where: string, said: string, cause: Error): BelfryError {
  const text = `The server doesn't give the database that ${where} names. It says: ${said}.`
  const remedy =
    "Name a database that the server has, such as redis://host:6379/0, or raise `databases` in its configuration."
  return new BelfryError("BELFRY_STORE_UNFIT", text, { cause, remedy })
}

function isOfConnection(error: Error): boolean {
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
  // A script that stumbles over one of these says so in the middle of its own message.
  switch (
    refusal === "ERR" ? (/-?(OOM|READONLY|MISCONF|WRONGTYPE)\b/.exec(message)?.[1] ?? refusal) : refusal
  ) {
    case "OOM":
      return [
        "BELFRY_STORE_FULL",
        `There is no memory left on ${where}; nothing was changed.`,
        "Raise the server's maxmemory, or free some: writing goes on by itself.",
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
        `Belfry's keys on ${where} are not as they should be.`,
        "Choose another prefix, such as redis://host:6379/0?prefix=belfry2.",
      ]
    default:
      return ["BELFRY_STORE_UNAVAILABLE", `${where} can't be used.`]
  }
}

/** The server names the command, or says that it is about a key or a channel. */
function permissionRemedy(message: string): string {
  const command = /run the '([\w|-]+)' command/.exec(message)?.[1]
  if (command !== undefined) return `Let this user run it: ACL SETUSER <user> +${command}`
  const isChannel = /channel/i.test(message)
  return isChannel
    ? "Let this user use Belfry's channels: ACL SETUSER <user> &{belfry}* (or the prefix of the address)"
    : "Let this user use Belfry's keys: ACL SETUSER <user> ~{belfry}* (or the prefix of the address)"
}
