import type { Pool } from "belfry/postgres"
import type pg from "pg"

/** What a pool of another make shows: no way to make a connection beside it. */
export function wrapped(pool: pg.Pool): Pool {
  return {
    connect: () => pool.connect(),
    end: () => pool.end(),
    on: (event, listener) => pool.on(event, listener),
    off: (event, listener) => pool.off(event, listener),
  }
}
