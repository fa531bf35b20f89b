import { checked } from "./core/checked.ts"
import { systemClock } from "./engine/clock.ts"
import type { LockBackend } from "./lock/backend.ts"
import type { Store } from "./store/store.ts"
import { SQLITE_OPTIONS, storeDoor } from "./store-options.ts"
import { createSqliteLocks } from "./stores/sqlite/locks.ts"
import { createSqliteStore } from "./stores/sqlite/sqlite-store.ts"

export { type FileSchema, schemaOfFile } from "./stores/sqlite/file-schema.ts"

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
export function sqlite(options: string | SqliteOptions): Store {
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
export function sqliteLocks(path: string): LockBackend {
  return createSqliteLocks({ path, durability: "normal", lockDeadlineMs: LOCK_DEADLINE_MS }, systemClock)
}

/** Longer than any transaction of Belfry's: who holds the lock for so long is another program. */
const LOCK_DEADLINE_MS = 5_000
