import { Redis } from "ioredis"
import { test } from "vitest"
import { startWatchedRedis } from "../../support/redis-sentinel.ts"
import { assertGoesOn, assertLossNoticed, type Replicated } from "./replicated.ts"
import { aStore, atTheEnd } from "./scratch.ts"

/**
 * With a sentinel, which takes a server for dead that is silent for half a second: so the machine must not be so busy that a
 * living one is.
 */
async function watched(): Promise<Replicated> {
  const { primary, replica, address, stop } = await startWatchedRedis()
  atTheEnd(stop)
  const client = new Redis(address)
  client.on("error", () => undefined)
  atTheEnd(() => client.disconnect())
  return { store: aStore(client), client, replica, failOver: () => primary.kill() }
}

test("when a sentinel puts a replica in the place of a dead server, the store goes on, and nothing is lost or doubled", async () => {
  await assertGoesOn(await watched())
})

test("a replica that a sentinel chose though it lacks what the dead server had confirmed is noticed", async () => {
  await assertLossNoticed(await watched())
})
