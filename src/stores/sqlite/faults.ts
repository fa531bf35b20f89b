import { accessSync, constants, existsSync } from "node:fs"
import { dirname } from "node:path"
import { BelfryError, type ErrorCode } from "../../core/errors.ts"

/** SQLite's primary result codes that Belfry distinguishes; https://sqlite.org/rescode.html. */
const RESULT = {
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
  TOOBIG: 18,
  CONSTRAINT: 19,
  MISMATCH: 20,
  NOTADB: 26,
} as const

/** Another connection holds the lock, so trying again may succeed. */
export function isBusy(error: unknown): boolean {
  const code = resultOf(error)
  return code === RESULT.BUSY || code === RESULT.LOCKED || code === RESULT.PROTOCOL
}

/** The row can't be stored. The statement changed nothing, and the transaction goes on. */
export function isUnstorable(error: unknown): boolean {
  const code = resultOf(error)
  return code === RESULT.TOOBIG || code === RESULT.CONSTRAINT || code === RESULT.MISMATCH
}

/** An error of SQLite as a `BelfryError` that says what to do. Other errors are returned unchanged. */
export function faultOf(error: unknown, path: string): unknown {
  if (error instanceof BelfryError) return error
  const code = resultOf(error)
  if (code === null) return error
  const [name, text, remedy] = describe(code, path)
  const message = error instanceof Error ? error.message : String(error)
  return new BelfryError(name, `${text} SQLite reported: ${message}.`, {
    details: { path, code },
    cause: error,
    ...(remedy === undefined ? {} : { remedy }),
  })
}

type Described = readonly [code: ErrorCode, text: string, remedy?: string]

function describe(code: number, path: string): Described {
  switch (code) {
    case RESULT.FULL:
      return ["BELFRY_STORE_FULL", `There is no room to write to ${path}; nothing was changed.`]
    case RESULT.TOOBIG:
    case RESULT.CONSTRAINT:
    case RESULT.MISMATCH:
      return ["BELFRY_STORE_REFUSED", `A value can't be stored in ${path}; nothing of its record was stored.`]
    case RESULT.READONLY:
      return ["BELFRY_STORE_READ_ONLY", `${path} can't be written to.`]
    case RESULT.NOTADB:
      return [
        "BELFRY_STORE_UNFIT",
        `${path} is not an SQLite database. It was not changed.`,
        "Use the path of another file.",
      ]
    case RESULT.CORRUPT:
      return ["BELFRY_STORE_UNFIT", `${path} is damaged.`, "Stop every process on it and restore a backup."]
    case RESULT.CANTOPEN:
      return describeUnopened(path)
    case RESULT.BUSY:
    case RESULT.LOCKED:
    case RESULT.PROTOCOL:
      return [
        "BELFRY_STORE_UNAVAILABLE",
        `Another process kept ${path} locked for too long.`,
        "Find the process that holds it (fuser, lsof), or try again.",
      ]
    default:
      return ["BELFRY_STORE_UNAVAILABLE", `${path} can't be used.`]
  }
}

/** SQLite reports only "unable to open database file", whatever the cause. */
function describeUnopened(path: string): Described {
  const folder = dirname(path)
  if (!existsSync(folder))
    return [
      "BELFRY_STORE_UNAVAILABLE",
      `The folder ${folder} doesn't exist.`,
      `Make it first: mkdir -p ${folder}`,
    ]
  if (!isWritable(existsSync(path) ? path : folder) || !isWritable(folder)) {
    return ["BELFRY_STORE_READ_ONLY", `${path} and its folder must both be writable by this user.`]
  }
  return [
    "BELFRY_STORE_UNAVAILABLE",
    `${path} can't be opened.`,
    "Check that it is a file that this user may read.",
  ]
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    // Every reason (no permission, a read-only mount) means that it can't be written to.
    return false
  }
}

/** The primary result code. Null: not an error of SQLite. */
function resultOf(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return null
  return error.errcode & 0xff
}
