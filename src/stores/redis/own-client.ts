import { BelfryError } from "../../core/errors.ts"
import type { RedisClient } from "./client.ts"

const RECONNECT_MIN_MS = 50
const RECONNECT_MAX_MS = 1_000

/** A client of the user's `ioredis`: Belfry doesn't bring it, so that there is one version of it in a program. */
export async function clientFor(url: string, deadlineMs: number): Promise<RedisClient> {
  const { Redis } = await loadDriver()
  return new Redis(url, {
    connectionName: "belfry",
    connectTimeout: deadlineMs,
    keepAlive: KEEP_ALIVE_MS,
    retryStrategy: (tries) => Math.min(RECONNECT_MIN_MS * tries, RECONNECT_MAX_MS),
    // Who waits meanwhile is told soon: a queue that grows through an outage would be sent at once when it ends.
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
