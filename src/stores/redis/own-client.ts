import { loadDriver } from "../kit/load-driver.ts"
import type { RedisClient } from "./client.ts"

const RECONNECT_MIN_MS = 50
const RECONNECT_MAX_MS = 1_000

/** Makes a client of the user's `ioredis`. */
export async function clientFor(url: string, deadlineMs: number): Promise<RedisClient> {
  const { Redis } = await loadDriver({ store: "Redis", driver: "ioredis" }, () => import("ioredis"))
  return new Redis(url, {
    connectionName: "belfry",
    connectTimeout: deadlineMs,
    keepAlive: KEEP_ALIVE_MS,
    retryStrategy: (tries) => Math.min(RECONNECT_MIN_MS * tries, RECONNECT_MAX_MS),
    // Calls fail soon during an outage. Otherwise the driver's queue would grow, and all of it would be sent at the end.
    maxRetriesPerRequest: 2,
  }) as unknown as RedisClient
}

const KEEP_ALIVE_MS = 10_000
