import type { Pool } from "belfry/postgres"
import type pg from "pg"

/** A pool like that of another driver: it does not expose how to open a separate connection. */
export function wrapped(pool: pg.Pool): Pool {
  return {
    connect: () => pool.connect(),
    end: () => pool.end(),
    on: (event, listener) => pool.on(event, listener),
    off: (event, listener) => pool.off(event, listener),
  }
}
