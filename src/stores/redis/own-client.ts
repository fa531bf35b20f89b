import { BelfryError } from "../../core/errors.ts"
import type { RedisClient } from "./client.ts"

const RECONNECT_MIN_MS = 50
const RECONNECT_MAX_MS = 1_000

/** Makes a client of the user's `ioredis`. Belfry does not depend on it, so that a program has one version of it. */
export async function clientFor(url: string, deadlineMs: number): Promise<RedisClient> {
  const { Redis } = await loadDriver()
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

async function loadDriver(): Promise<Pick<typeof import("ioredis"), "Redis">> {
  try {
    return await import("ioredis")
  } catch (cause) {
    throw new BelfryError(
      "BELFRY_STORE_UNFIT",
      "The Redis store needs the driver ioredis, which is not installed here.",
      { cause, remedy: "Install it: npm install ioredis" },
    )
  }
}
