import { Redis } from "ioredis"
import type { TestProject } from "vitest/node"
import { startRedis } from "./redis.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** From the project's configuration. Default false: the server that the machine has. */
    isValkey?: boolean
    /** The server that all files of the project share. */
    redis: SharedRedis
  }
}

interface SharedRedis {
  readonly url: string
  /** The beginning of this run's prefixes. */
  readonly prefix: string
}

/** Runs once before the files of a project that needs Redis, and not at all if none of them runs. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { isValkey = false } = project.getProvidedContext()
  const prefix = `belfry-test-${process.pid}`
  const externalUrl = process.env["BELFRY_TEST_REDIS_URL"]
  const isExternal = externalUrl !== undefined && !isValkey
  const server = isExternal ? externalServer(externalUrl, prefix) : await startRedis({ isValkey })
  project.provide("redis", { url: server.url, prefix })
  return () => server.stop()
}

/** A server that was not started by the tests. This run's keys are deleted at the end. */
function externalServer(url: string, prefix: string) {
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
