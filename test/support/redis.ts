import { join } from "node:path"
import { Redis } from "ioredis"
import { canInstallPackages, findProgram, installPackages, notRoot } from "./server-programs.ts"
import { type ServerPlan, ThrowawayServer } from "./servers.ts"

/** A Redis server of one's own, to stop, to kill and to restart. Those who only need a prefix: `redis-prefix.ts`. */
export interface RedisServer {
  readonly url: string
  readonly port: number
  /** Null while it is down. */
  readonly pid: number | null
  /** As a power cut: what is in the append-only file is kept. */
  kill(): Promise<void>
  restart(): Promise<void>
  stop(): Promise<void>
}

export interface ServerOptions {
  /** Written to the append-only file, so that a killed server keeps it. Off unless said. */
  readonly isKept?: boolean
  /** Further settings, such as ["--maxmemory-policy", "allkeys-lru"]. */
  readonly settings?: readonly string[]
}

export async function startRedis(options: ServerOptions = {}): Promise<RedisServer> {
  const server = await ThrowawayServer.start(planOf(await redisProgram(), options))
  return {
    url: `redis://127.0.0.1:${server.port}`,
    port: server.port,
    get pid() {
      return server.pid
    },
    kill: () => server.kill(),
    restart: () => server.restart(),
    stop: () => server.stop(),
  }
}

/** Redis or Valkey, whichever the machine has; else it is installed. */
async function redisProgram(): Promise<string> {
  const found = findProgram("redis-server") ?? findProgram("valkey-server")
  if (found !== null) return found
  const remedy = "Install it, or run what needs no server: npx vitest run --project fast"
  if (!canInstallPackages()) throw new Error(`Redis is not on this machine. ${remedy}`)
  await installPackages("redis-server")
  return findProgram("redis-server")!
}

function planOf(program: string, { isKept = false, settings = [] }: ServerOptions): ServerPlan {
  return {
    name: "Redis",
    user: notRoot(),
    command: (folder, port) => ({
      program,
      args: [
        ...["--bind", "127.0.0.1", "--port", String(port), "--dir", folder, "--save", ""],
        ...["--appendonly", isKept ? "yes" : "no", "--appendfsync", "always"],
        ...settings,
      ],
    }),
    isReady,
    stopSignal: "SIGTERM",
  }
}

async function isReady(folder: string, port: number): Promise<boolean> {
  const client = new Redis({ port, lazyConnect: true, retryStrategy: () => null })
  client.on("error", () => undefined)
  try {
    await client.connect()
    const [, dir] = (await client.config("GET", "dir")) as [string, string]
    return join(dir, "") === join(folder, "")
  } catch {
    // Not listening yet, or still loading.
    return false
  } finally {
    client.disconnect()
  }
}
