import type { Ledger } from "./ledger.ts"
import { postgresPlace } from "./postgres-place.ts"
import { redisPlace } from "./redis-place.ts"
import { sqlitePlace } from "./sqlite-place.ts"

/** Where the processes of a chaos test meet: a database that is there for one test. */
export interface Place {
  /** What programs are given to find the store; see `storeAt`. */
  readonly address: string
  /** The server dies as by a power cut and is back after a while. Null where there is no server. */
  readonly killServer: ((downMs: number) => Promise<void>) | null
  ledger(): Promise<Ledger>
  close(): Promise<void>
}

export const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  SQLite: sqlitePlace,
  PostgreSQL: postgresPlace,
  Redis: redisPlace,
}
