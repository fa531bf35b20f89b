import { BelfryError } from "../../core/errors.ts"
import type { Pool } from "./client.ts"

/**
 * A pool of the user's `pg`: Belfry doesn't bring it, so that there is one version of it in a program. Without a deadline,
 * whoever wants a connection waits until one is free.
 */
export async function poolFor(url: string, connections: number, deadlineMs?: number): Promise<Pool> {
  const { default: pg } = await loadDriver()
  return new pg.Pool({
    connectionString: url,
    max: connections,
    application_name: "belfry",
    // A first call on a new connection takes ten times as long: what is due at the minute must not wait for one.
    min: Math.min(3, connections),
    keepAlive: true,
    // A server that takes a connection and never answers would keep its place in the pool for ever.
    ...(deadlineMs === undefined ? {} : { connectionTimeoutMillis: deadlineMs }),
  }) as unknown as Pool
}

async function loadDriver(): Promise<typeof import("pg")> {
  try {
    return await import("pg")
  } catch (cause) {
    throw new BelfryError(
      "BELFRY_STORE_UNFIT",
      "The PostgreSQL store needs the driver pg, which is not installed here.",
      { cause, remedy: "Install it: npm install pg" },
    )
  }
}
