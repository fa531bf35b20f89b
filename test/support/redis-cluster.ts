import { setTimeout as sleep } from "node:timers/promises"
import { Redis } from "ioredis"
import { type RedisServer, startRedis } from "./redis.ts"

const NODES = 3
const SLOTS = 16_384
const COMPLETE_WITHIN_MS = 120_000

/** Three servers on this machine that share the slots, without replicas. */
export interface RedisCluster {
  readonly nodes: readonly RedisServer[]
  stop(): Promise<void>
}

export async function startRedisCluster(): Promise<RedisCluster> {
  const settings = ["--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1"]
  const nodes: RedisServer[] = []
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()))
  }
  try {
    for (let index = 0; index < NODES; index++) nodes.push(await startRedis({ settings }))
    await join(nodes)
  } catch (error) {
    await stop()
    throw error
  }
  return { nodes, stop }
}

async function join(nodes: readonly RedisServer[]): Promise<void> {
  const clients = nodes.map(({ url }) => new Redis(url))
  try {
    for (const [index, client] of clients.entries()) {
      const [first, next] = [index, index + 1].map((at) => Math.floor((SLOTS * at) / NODES)) as [
        number,
        number,
      ]
      await client.call("cluster", "addslotsrange", first, next - 1)
      await client.call("cluster", "meet", "127.0.0.1", nodes[0]!.port)
    }
    const deadline = performance.now() + COMPLETE_WITHIN_MS
    while (!(await Promise.all(clients.map(isComplete))).every(Boolean)) {
      if (performance.now() > deadline)
        throw new Error(`The cluster isn't complete after ${COMPLETE_WITHIN_MS} ms`)
      await sleep(50)
    }
  } finally {
    for (const client of clients) client.disconnect()
  }
}

/** Each node has to know all others: a node that doesn't can't redirect clients. */
async function isComplete(client: Redis): Promise<boolean> {
  const info = String(await client.call("cluster", "info"))
  return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${NODES}`)
}
