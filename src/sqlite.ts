import { checked, checkedValue } from "./core/checked.ts"
import { systemClock } from "./engine/clock.ts"
import type { LockBackend } from "./lock/backend.ts"
import type { Store } from "./store/store.ts"
import { checkNothingElse, SQLITE_OPTIONS, SQLITE_PATH, storeDoor } from "./store-options.ts"
import { type FileSchema, schemaOfFile as schemaAt } from "./stores/sqlite/file-schema.ts"
import { createSqliteLocks } from "./stores/sqlite/locks.ts"
import { createSqliteStore } from "./stores/sqlite/sqlite-store.ts"

export type { FileSchema } from "./stores/sqlite/file-schema.ts"

export interface SqliteOptions {
  /** The file, made if it isn't there; `:memory:` keeps everything in this process. */
  readonly path: string
  /**
   * `normal`: a crash of the process loses nothing; a power cut may take the newest moments. `full`: nor does a power cut,
   * and each write waits for the disk.
   */
  readonly durability?: "normal" | "full"
}

/** A store in one file, for any number of processes on this host: the embedded default, with nothing to set up. */
export function sqlite(options: string | SqliteOptions): Store
export function sqlite(options: string | SqliteOptions, ...others: readonly unknown[]): Store {
  checkNothingElse(others, "sqlite() takes one argument: sqlite({ path, durability })")
  const given = checked(
    typeof options === "string" ? { path: options } : options,
    SQLITE_OPTIONS,
    storeDoor("sqlite"),
  )
  const { path, durability = "normal" } = given
  const store = createSqliteStore({ path, durability, lockDeadlineMs: LOCK_DEADLINE_MS }, systemClock)
  return Object.assign(store, { kind: "sqlite" })
}

/** Locks in one file, for the processes of this host. It may be the file of a store. */
export function sqliteLocks(path: string): LockBackend
export function sqliteLocks(given: string, ...others: readonly unknown[]): LockBackend {
  checkNothingElse(others, "sqliteLocks() takes one argument, the path")
  const path = checkedValue(given, SQLITE_PATH, { door: storeDoor("sqliteLocks"), option: "path" })
  return createSqliteLocks({ path, durability: "normal", lockDeadlineMs: LOCK_DEADLINE_MS }, systemClock)
}

/** Which schema a file is at (0: Belfry was never there), and which one this version knows. Changes nothing. */
export async function schemaOfFile(path: string): Promise<FileSchema> {
  return schemaAt(checkedValue(path, SQLITE_PATH, { door: storeDoor("schemaOfFile"), option: "path" }))
}

/** Longer than any transaction of Belfry's: who holds the lock for so long is another program. */
const LOCK_DEADLINE_MS = 5_000
