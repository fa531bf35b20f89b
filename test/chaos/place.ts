import type { Ledger } from "./ledger.ts"
import { postgresPlace } from "./postgres-place.ts"
import { redisPlace } from "./redis-place.ts"
import { sqlitePlace } from "./sqlite-place.ts"

/** The database of one chaos test, shared by its processes. */
export interface Place {
  /** The address of the store, for programs. See `storeAt`. */
  readonly address: string
  /** Kills the server as by a power cut and restarts it after `downMs`. Null: there is no server. */
  readonly killServer: ((downMs: number) => Promise<void>) | null
  ledger(): Promise<Ledger>
  close(): Promise<void>
}

export const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  SQLite: sqlitePlace,
  PostgreSQL: postgresPlace,
  Redis: redisPlace,
}
