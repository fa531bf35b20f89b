import { join } from "node:path"
import { Redis } from "ioredis"
import { type RedisProgram, redisProgram, valkeyProgram } from "./redis-programs.ts"
import { notRoot } from "./server-programs.ts"
import { type ServerPlan, ThrowawayServer } from "./servers.ts"

/** A Redis server of one's own, to stop, to kill and to restart. Those who only need a prefix: `redis-prefix.ts`. */
export interface RedisServer {
  readonly url: string
  readonly port: number
  /** Where its files are; they go with it. */
  readonly folder: string
  /** Null while it is down. */
  readonly pid: number | null
  /** As a power cut: what is in the append-only file is kept. */
  kill(): Promise<void>
  restart(): Promise<void>
  stop(): Promise<void>
}

export interface ServerOptions {
  /** Whichever the machine has unless said. */
  readonly isValkey?: boolean
  /** Written to the append-only file, so that a killed server keeps it. Off unless said. */
  readonly isKept?: boolean
  /** Further settings, such as ["--maxmemory-policy", "allkeys-lru"]. */
  readonly settings?: readonly string[]
}

export async function startRedis(options: ServerOptions = {}): Promise<RedisServer> {
  const program = options.isValkey === true ? await valkeyProgram() : await redisProgram()
  const server = await ThrowawayServer.start(planOf(program, options))
  return {
    url: `redis://127.0.0.1:${server.port}`,
    port: server.port,
    folder: server.folder,
    get pid() {
      return server.pid
    },
    kill: () => server.kill(),
    restart: () => server.restart(),
    stop: () => server.stop(),
  }
}

function planOf(
  program: RedisProgram,
  { isValkey = false, isKept = false, settings = [] }: ServerOptions,
): ServerPlan {
  return {
    name: "Redis",
    // What was unpacked into a checkout below /root is closed to others.
    user: isValkey ? null : notRoot(),
    command: (folder, port) => ({
      program: program.program,
      args: [
        ...program.args,
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
