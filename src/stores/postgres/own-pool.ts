import { loadDriver } from "../kit/load-driver.ts"
import type { Pool } from "./client.ts"

/**
 * Makes a pool of the user's `pg`. Without a deadline, a
 * caller waits until a connection is free.
 */
export async function poolFor(url: string, connections: number, deadlineMs?: number): Promise<Pool> {
  const { default: pg } = await loadDriver({ store: "PostgreSQL", driver: "pg" }, () => import("pg"))
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
