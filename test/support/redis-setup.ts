import { Redis } from "ioredis"
import type { TestProject } from "vitest/node"
import { startRedis } from "./redis.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** From the project's configuration; whichever server the machine has if not said. */
    isValkey?: boolean
    /** The server that all files of the project share. */
    redis: SharedRedis
  }
}

interface SharedRedis {
  readonly url: string
  /** How this run's prefixes begin. */
  readonly prefix: string
}

/** Runs once before the files of a project that needs Redis, and not at all if none of them is to run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { isValkey = false } = project.getProvidedContext()
  const prefix = `belfry-test-${process.pid}`
  const borrowedUrl = process.env["BELFRY_TEST_REDIS_URL"]
  const isBorrowed = borrowedUrl !== undefined && !isValkey
  const server = isBorrowed ? borrowed(borrowedUrl, prefix) : await startRedis({ isValkey })
  project.provide("redis", { url: server.url, prefix })
  return () => server.stop()
}

/** A server that was there before, and keeps nothing of ours. */
function borrowed(url: string, prefix: string) {
  return {
    url,
    async stop() {
      const client = new Redis(url)
      for await (const keys of client.scanStream({ match: `{${prefix}*`, count: 1_000 })) {
        if (keys.length > 0) await client.unlink(keys)
      }
      client.disconnect()
    },
  }
}
