import { existsSync } from "node:fs"
import { isAbsolute, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import type { Store } from "../store/store.ts"
import { EXIT } from "./exit-codes.ts"
import type { Io } from "./io.ts"
import { Refusal } from "./refusal.ts"

export const DEFAULT_STORE = "./belfry.db"

/** A store and where it is, in words that show no password. */
export interface OpenedStore {
  readonly store: Store
  readonly place: string
  /** There was none: it is made now. */
  readonly isNew: boolean
  /** Reads which schema the store is at, before it is opened; null for a store that has none or can't say. */
  readonly schema: (() => Promise<Schema>) | null
}

/** Every database has a number: what is stored (0: nothing of Belfry's yet), and what this version makes of it. */
export interface Schema {
  readonly stored: number
  readonly known: number
}

const NOT_YET: Readonly<Record<string, string>> = {
  redis: "Redis",
  rediss: "Redis",
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
    return { store: io.openStore(address), place: masked(address), isNew: false, schema: null }
  const scheme = /^([a-z][a-z0-9+]*):/i.exec(address)?.[1]?.toLowerCase()
  if (scheme === "memory") {
    const { memory } = await import("../memory.ts")
    const place = "this process's memory: nothing is kept when it stops"
    return { store: memory(), place, isNew: true, schema: null }
  }
  // A drive letter is no scheme.
  if (scheme === undefined || scheme.length === 1 || scheme === "sqlite" || scheme === "file")
    return sqliteAt(pathOf(address, io.cwd), mayCreate)
  if (scheme === "postgres" || scheme === "postgresql") return postgresAt(address, mayCreate)
  const name = NOT_YET[scheme]
  if (name !== undefined)
    throw new Refusal(
      EXIT.usage,
      `The store ${masked(address)} is ${name}, which this version of Belfry doesn't have.`,
      "Use a SQLite file (--store ./belfry.db) or PostgreSQL (--store postgres://…).",
    )
  throw new Refusal(
    EXIT.usage,
    `The store ${masked(address)} has an unknown scheme "${scheme}:".`,
    "Use a path, sqlite:PATH, postgres://… or memory:.",
  )
}

async function sqliteAt(path: string, mayCreate: boolean): Promise<OpenedStore> {
  const isNew = !existsSync(path)
  if (isNew && !mayCreate) {
    throw new Refusal(
      EXIT.unavailable,
      `There is no store at ${path}.`,
      "Make one with: belfry start, or say where it is: --store PATH (or BELFRY_STORE)",
    )
  }
  const { sqlite, schemaOfFile } = await import("../sqlite.ts")
  return { store: sqlite(path), place: path, isNew, schema: () => schemaOfFile(path) }
}

/** Asked first, so that looking at a database that is no store doesn't make it one. */
async function postgresAt(url: string, mayCreate: boolean): Promise<OpenedStore> {
  const { postgres, schemaOfDatabase } = await import("../postgres.ts")
  const schema = () => schemaOfDatabase(url)
  const isNew = (await schema()).stored === 0
  if (isNew && !mayCreate) {
    throw new Refusal(
      EXIT.unavailable,
      `There is no store in ${masked(url)}.`,
      `Make one with: belfry start --store ${masked(url)}`,
    )
  }
  return { store: postgres(url), place: masked(url), isNew, schema }
}

/** `sqlite:belfry.db`, `sqlite:///var/lib/belfry.db`, `file:///…` or a plain path. */
function pathOf(address: string, cwd: string): string {
  const path = withoutScheme(address)
  if (path === "")
    throw new Refusal(
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

/** An address as it may be shown: never with its password. */
export function masked(address: string): string {
  return address.replace(/(:\/\/[^:@/]*):[^@]*@/, "$1:***@")
}
