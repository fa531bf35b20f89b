import { test } from "vitest"
import { startRedis } from "../../support/redis.ts"
import { movingAddress } from "./moving-address.ts"
import { assertGoesOn, assertLossNoticed, type Replicated } from "./replicated.ts"
import { aClient, aStore, atTheEnd, until } from "./scratch.ts"

/** Without a sentinel: the test itself puts the replica in the server's place. */
async function replicated(): Promise<Replicated> {
  // A primary waits five seconds for further replicas before it gives the first one what it has.
  const primary = await startRedis({ settings: ["--repl-diskless-sync-delay", "0"] })
  atTheEnd(() => primary.stop())
  const replica = await startRedis({ settings: ["--replicaof", "127.0.0.1", String(primary.port)] })
  atTheEnd(() => replica.stop())
  const admin = aClient(replica.url)
  const isFollowing = async () => (await admin.info("replication")).includes("master_link_status:up")
  await until(isFollowing, "the replica follows the primary")
  const address = await movingAddress(primary.port)
  atTheEnd(() => address.close())
  const client = aClient(address.url)
  return {
    store: aStore(client),
    client,
    replica,
    async failOver() {
      await primary.kill()
      await admin.replicaof("NO", "ONE")
      address.moveTo(replica.port)
    },
  }
}

test("when a replica takes the place of a server that died, the store goes on, and nothing is lost or doubled", async () => {
  await assertGoesOn(await replicated())
})

test("a replica that lacks what the dead server had confirmed is noticed", async () => {
  await assertLossNoticed(await replicated())
})
