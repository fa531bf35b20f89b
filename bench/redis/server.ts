import { Redis } from "ioredis"
import { type RedisServer, startRedis } from "../../test/support/redis.ts"
import { type BenchServer, cpuMsOf, difference } from "../shared/server.ts"

/** The usual settings of servers that must keep their data. */
const SETTINGS = ["--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0"]

/**
 * Each database is a separate server, which starts in milliseconds, so that the costs of contenders stay apart. Counting the
 * commands that clients send, without those of scripts, needs MONITOR, which would slow down a busy server.
 */
export async function benchServer(options: { isCountingSent?: boolean } = {}): Promise<BenchServer> {
  const servers = new Map<string, RedisServer>()
  const fresh = async () => {
    const server = await startRedis({ isKept: true, settings: SETTINGS })
    servers.set(server.url, server)
    return server.url
  }
  const about = await aboutServer(await fresh())
  return {
    about,
    freshDatabase: fresh,
    async costOf(url, work) {
      await using client = new Client(url)
      const { pid } = servers.get(url)!
      const monitor = options.isCountingSent === true ? await Monitor.on(url) : null
      const before = await client.figures()
      const cpuBefore = cpuMsOf(pid)
      const result = await work()
      const serverCpuMs = difference(cpuBefore, cpuMsOf(pid))
      const after = await client.figures()
      const statements = monitor === null ? after.commands - before.commands : monitor.end()
      return { result, cost: { statements, logBytes: after.logBytes - before.logBytes, serverCpuMs } }
    },
    async stop() {
      for (const server of servers.values()) await server.stop()
    },
  }
}

async function aboutServer(url: string): Promise<string> {
  await using client = new Client(url)
  return `Redis ${await client.fact("redis_version")}, append-only file, written to disk every second`
}

class Client implements AsyncDisposable {
  readonly #redis: Redis

  constructor(url: string) {
    this.#redis = new Redis(url)
  }

  /** The commands that the server has run, including those of scripts, and the size of its append-only file. */
  async figures(): Promise<{ commands: number; logBytes: number }> {
    return {
      commands: Number(await this.fact("total_commands_processed")),
      logBytes: Number(await this.fact("aof_current_size")),
    }
  }

  async fact(name: string): Promise<string> {
    const info = await this.#redis.info()
    return new RegExp(`^${name}:(.*)$`, "m").exec(info)![1]!.trim()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#redis.disconnect()
  }
}

/** Counts the commands that clients send. */
class Monitor {
  readonly #redis: Redis
  #count = 0

  private constructor(redis: Redis) {
    this.#redis = redis
    redis.on("monitor", (_time: string, args: readonly string[], source: string) => {
      const isOwned = args[0]?.toLowerCase() === "info"
      if (source !== "lua" && !isOwned) this.#count++
    })
  }

  static async on(url: string): Promise<Monitor> {
    const redis = new Redis(url)
    // `monitor` opens its own connection.
    const monitor = await redis.monitor()
    redis.disconnect()
    return new Monitor(monitor)
  }

  end(): number {
    this.#redis.disconnect()
    return this.#count
  }
}
