import { BelfryError } from "../../core/errors.ts"
import type { Pool } from "./client.ts"

/**
 * Makes a pool of the user's `pg`. Belfry does not depend on it, so that a program has one version of it. Without a deadline, a
 * caller waits until a connection is free.
 */
export async function poolFor(url: string, connections: number, deadlineMs?: number): Promise<Pool> {
  const { default: pg } = await loadDriver()
  return new pg.Pool({
    connectionString: url,
    max: connections,
    application_name: "belfry",
    // The first call on a new connection takes ten times as long. Runs that are due at the minute must not wait for that.
    min: Math.min(3, connections),
    keepAlive: true,
    // If a server accepts a connection and never answers, the connection would keep its place in the pool forever.
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
