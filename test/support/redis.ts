import { join } from "node:path"
import { Redis } from "ioredis"
import { type RedisProgram, redisProgram, valkeyProgram } from "./redis-programs.ts"
import { notRoot } from "./server-programs.ts"
import { type ServerPlan, ThrowawayServer } from "./servers.ts"

/** A separate Redis server that a test can stop, kill and restart. Tests that only need a prefix use `redis-prefix.ts`. */
export interface RedisServer {
  readonly url: string
  readonly port: number
  /** The folder of its files, which is deleted with the server. */
  readonly folder: string
  /** Null while the server is down. */
  readonly pid: number | null
  /** Like a power cut: the append-only file is kept. */
  kill(): Promise<void>
  restart(): Promise<void>
  stop(): Promise<void>
}

export interface ServerOptions {
  /** Default false: the machine's Redis or Valkey. */
  readonly isValkey?: boolean
  /** Writes an append-only file, so that a killed server keeps its data. Default false. */
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
    // Valkey may be unpacked into a checkout below /root, which other users can't read.
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
