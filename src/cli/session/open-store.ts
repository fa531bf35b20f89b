import { existsSync } from "node:fs"
import { isAbsolute, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { masked } from "../../core/values/address.ts"
import type { Inspection } from "../../store/inspection.ts"
import type { Store } from "../../store/store.ts"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import type { Io } from "../terminal/io.ts"

export const DEFAULT_STORE = "./belfry.db"

/** A store, and its address without the password. */
export interface OpenedStore {
  readonly store: Store
  readonly shownAddress: string
  /** The store did not exist and is created now. */
  readonly isNew: boolean
  /** Reads the schema without opening the store. Null: the store can't be inspected. */
  readonly inspect: (() => Promise<Inspection>) | null
}

const UNSUPPORTED: Readonly<Record<string, string>> = {
  mongodb: "MongoDB",
  "mongodb+srv": "MongoDB",
  mysql: "MySQL",
  mariadb: "MariaDB",
}

/** The store at an address, by its scheme. Nothing is opened yet. */
export async function storeAt(
  address: string,
  { io, mayCreate }: { io: Io; mayCreate: boolean },
): Promise<OpenedStore> {
  if (io.openStore !== undefined)
    return { store: io.openStore(address), shownAddress: masked(address), isNew: false, inspect: null }
  const scheme = /^([a-z][a-z0-9+]*):/i.exec(address)?.[1]?.toLowerCase()
  if (scheme === "memory") {
    const { memory } = await import("../../stores/memory/memory.ts")
    const shownAddress = "the memory of this process; nothing is kept after it stops"
    return { store: memory(), shownAddress, isNew: true, inspect: null }
  }
  // A single letter is a drive on Windows, not a scheme.
  if (scheme === undefined || scheme.length === 1 || scheme === "sqlite" || scheme === "file")
    return sqliteAt(pathOf(address, io.cwd), mayCreate)
  if (scheme === "postgres" || scheme === "postgresql") return postgresAt(address, mayCreate)
  if (scheme === "redis" || scheme === "rediss") return redisAt(address, { io, mayCreate })
  const name = Object.hasOwn(UNSUPPORTED, scheme) ? UNSUPPORTED[scheme] : undefined
  if (name !== undefined)
    throw new CliError(
      EXIT.usage,
      `The store ${masked(address)} is ${name}, which this version of Belfry does not support.`,
      "Use a SQLite file (--store ./belfry.db), PostgreSQL (--store postgres://…) or Redis (--store redis://…).",
    )
  throw new CliError(
    EXIT.usage,
    `The store ${masked(address)} has an unknown scheme "${scheme}:".`,
    "Use a path, sqlite:PATH, postgres://…, redis://… or memory:.",
  )
}

async function sqliteAt(path: string, mayCreate: boolean): Promise<OpenedStore> {
  const isNew = !existsSync(path)
  if (isNew && !mayCreate) {
    throw new CliError(
      EXIT.unavailable,
      `There is no store at ${path}.`,
      "Create it with: belfry start, or give its path: --store PATH (or BELFRY_STORE)",
    )
  }
  const { sqlite, inspect } = await import("../../sqlite.ts")
  return { store: sqlite(path), shownAddress: path, isNew, inspect: () => inspect(path) }
}

/** Inspects the database first, so that a command that only reads doesn't create a store in it. */
async function postgresAt(url: string, mayCreate: boolean): Promise<OpenedStore> {
  const { postgres, inspect } = await import("../../postgres.ts")
  const shownAddress = masked(url)
  const isNew = await isNewStore(() => inspect(url), shownAddress, mayCreate)
  return { store: postgres(url), shownAddress, isNew, inspect: () => inspect(url) }
}

async function redisAt(
  address: string,
  { io, mayCreate }: { io: Io; mayCreate: boolean },
): Promise<OpenedStore> {
  const { redis, inspect } = await import("../../redis.ts")
  const shownAddress = masked(address)
  // Only for commands that may create a store. For commands that read, `doctor` reports the same warnings.
  const onWarning = (message: string) => (mayCreate ? io.err(`warning: ${message}\n`) : undefined)
  const store = redis(address, { onWarning })
  const isNew = await isNewStore(() => inspect(address), shownAddress, mayCreate)
  return { store, shownAddress, isNew, inspect: () => inspect(address) }
}

async function isNewStore(
  inspect: () => Promise<Inspection>,
  shownAddress: string,
  mayCreate: boolean,
): Promise<boolean> {
  const isNew = (await inspect()).schema.stored === 0
  if (isNew && !mayCreate) throw noStoreIn(shownAddress)
  return isNew
}

function noStoreIn(shownAddress: string): CliError {
  return new CliError(
    EXIT.unavailable,
    `There is no store in ${shownAddress}.`,
    `Create it with: belfry start --store ${shownAddress}`,
  )
}

/** `sqlite:belfry.db`, `sqlite:///var/lib/belfry.db`, `file:///…` or a plain path. */
function pathOf(address: string, cwd: string): string {
  const path = withoutScheme(address)
  if (path === "")
    throw new CliError(
      EXIT.usage,
      `The store "${address}" names no file.`,
      "Write a path: --store ./belfry.db",
    )
  return isAbsolute(path) ? path : resolve(cwd, path)
}

function withoutScheme(address: string): string {
  if (/^(file|sqlite):\/\/\//i.test(address)) return fileURLToPath(address.replace(/^sqlite:/i, "file:"))
  return address.replace(/^(sqlite|file):(\/\/)?/i, "")
}
