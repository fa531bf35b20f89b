import { chownSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Redis } from "ioredis"
import { type RedisServer, startRedis } from "./redis.ts"
import { redisProgram } from "./redis-programs.ts"
import { until } from "./scratch.ts"
import { notRoot } from "./server-programs.ts"
import { ThrowawayServer } from "./servers.ts"

/** A primary, a replica, and a sentinel that promotes the replica when the primary falls silent. */
export interface WatchedRedis {
  readonly primary: RedisServer
  readonly replica: RedisServer
  /** What a client needs to find the current primary. */
  readonly address: { sentinels: { host: string; port: number }[]; name: string }
  stop(): Promise<void>
}

const NAME = "belfry"

export async function startWatchedRedis(): Promise<WatchedRedis> {
  const stops: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const each of stops.reverse()) await each()
  }
  try {
    // By default a primary waits 5 s for more replicas before it sends its data to the first.
    const primary = await startRedis({ isKept: true, settings: ["--repl-diskless-sync-delay", "0"] })
    stops.push(() => primary.stop())
    const replica = await startRedis({ settings: ["--replicaof", "127.0.0.1", String(primary.port)] })
    stops.push(() => replica.stop())
    await followed(replica.port)
    const sentinel = await startSentinel(primary.port)
    stops.push(() => sentinel.stop())
    const address = { sentinels: [{ host: "127.0.0.1", port: sentinel.port }], name: NAME }
    return { primary, replica, address, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Waits until the replica has the primary's data: before that it confirms no writes. */
async function followed(port: number): Promise<void> {
  const client = new Redis(port)
  client.on("error", () => undefined)
  try {
    const isFollowing = async () => (await client.info("replication")).includes("master_link_status:up")
    await until(isFollowing, "the replica follows the primary", 60_000)
  } finally {
    client.disconnect()
  }
}

async function startSentinel(primaryPort: number): Promise<ThrowawayServer> {
  const { program, args } = await redisProgram()
  const user = notRoot()
  return ThrowawayServer.start({
    name: "Sentinel",
    user,
    // A sentinel writes its state into its configuration file.
    async prepare(folder) {
      const file = join(folder, "sentinel.conf")
      const watch = `sentinel monitor ${NAME} 127.0.0.1 ${primaryPort} 1`
      writeFileSync(
        file,
        `${watch}\nsentinel down-after-milliseconds ${NAME} 500\nsentinel failover-timeout ${NAME} 3000\n`,
      )
      if (user !== null) chownSync(file, user.uid, user.gid)
    },
    command: (folder, port) => ({
      program,
      args: [
        ...args,
        join(folder, "sentinel.conf"),
        "--sentinel",
        "--bind",
        "127.0.0.1",
        "--port",
        String(port),
        "--dir",
        folder,
      ],
    }),
    isReady: (_, port) => knowsReplica(port),
    stopSignal: "SIGTERM",
  })
}

/** Before the sentinel knows the replica, it can promote none. */
async function knowsReplica(port: number): Promise<boolean> {
  const client = new Redis({ port, lazyConnect: true, retryStrategy: () => null })
  client.on("error", () => undefined)
  try {
    await client.connect()
    const replicas = (await client.call("sentinel", "replicas", NAME)) as unknown[]
    return replicas.length > 0
  } catch {
    // Not listening yet.
    return false
  } finally {
    client.disconnect()
  }
}
