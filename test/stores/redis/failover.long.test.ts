import { Redis } from "ioredis"
import { test } from "vitest"
import { startWatchedRedis } from "../../support/redis-sentinel.ts"
import { assertContinues, assertLossReported, type Replicated } from "./replicated.ts"
import { aStore, atTheEnd } from "./scratch.ts"

/**
 * With a sentinel, which takes a server for dead after half a second without an answer. So the machine must not be so busy that a
 * live server is that slow.
 */
async function watched(): Promise<Replicated> {
  const { primary, replica, address, stop } = await startWatchedRedis()
  atTheEnd(stop)
  const client = new Redis(address)
  client.on("error", () => undefined)
  atTheEnd(() => client.disconnect())
  return { store: aStore(client), client, replica, failOver: () => primary.kill() }
}

test("when a sentinel promotes a replica, the store continues, and nothing is lost or done twice", async () => {
  await assertContinues(await watched())
})

test("when a sentinel promotes a replica that lacks confirmed writes, the store reports the loss", async () => {
  await assertLossReported(await watched())
})
