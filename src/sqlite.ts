/** The SQLite store: `belfry/sqlite`. */
export type { Check } from "./store/check.ts"
export type { Inspection } from "./store/inspection.ts"
export { inspect } from "./stores/sqlite/inspect.ts"
export type { SqliteOptions } from "./stores/sqlite/options.ts"
export { sqlite, sqliteLocks } from "./stores/sqlite/sqlite.ts"
export type { SqliteStore } from "./stores/sqlite/sqlite-store.ts"
export type { SqliteTransaction } from "./stores/sqlite/transaction.ts"
