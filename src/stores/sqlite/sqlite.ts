import { checked, checkedValue, checkNothingElse } from "../../core/options/checked.ts"
import type { LockBackend } from "../../lock/backend.ts"
import { systemClock } from "../../runtime/clock.ts"
import { storeSource } from "../kit/options.ts"
import { createSqliteLocks } from "./locks.ts"
import { SQLITE_OPTIONS, SQLITE_PATH, type SqliteOptions } from "./options.ts"
import { createSqliteStore, type SqliteStore } from "./sqlite-store.ts"

/** A store in one file, for any number of processes on one host. The embedded default: it needs no setup. */
export function sqlite(options: string | SqliteOptions): SqliteStore
export function sqlite(options: string | SqliteOptions, ...others: readonly unknown[]): SqliteStore {
  checkNothingElse(others, "sqlite() takes one argument: sqlite({ path, durability })")
  const given = checked(
    typeof options === "string" ? { path: options } : options,
    SQLITE_OPTIONS,
    storeSource("sqlite"),
  )
  const { path, durability = "normal" } = given
  const store = createSqliteStore({ path, durability, lockDeadlineMs: LOCK_DEADLINE_MS }, systemClock)
  return Object.assign(store, { kind: "sqlite" })
}

/** Locks in one file, for the processes of one host. The file may also hold a store. */
export function sqliteLocks(path: string): LockBackend
export function sqliteLocks(given: string, ...others: readonly unknown[]): LockBackend {
  checkNothingElse(others, "sqliteLocks() takes one argument, the path")
  const path = checkedValue(given, SQLITE_PATH, { source: storeSource("sqliteLocks"), option: "path" })
  return createSqliteLocks({ path, durability: "normal", lockDeadlineMs: LOCK_DEADLINE_MS }, systemClock)
}

/** Longer than any transaction of Belfry. If the file is locked for longer, another program holds the lock. */
const LOCK_DEADLINE_MS = 5_000
