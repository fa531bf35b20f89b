import { test } from "vitest"
import { startRedis } from "../../support/redis.ts"
import { movingAddress } from "./moving-address.ts"
import { assertContinues, assertLossReported, type Replicated } from "./replicated.ts"
import { aClient, aStore, atTheEnd, until } from "./scratch.ts"

/** Without a sentinel: the test itself promotes the replica. */
async function replicated(): Promise<Replicated> {
  // By default a primary waits five seconds for more replicas before it sends its data to the first.
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

test("when a replica replaces a dead server, the store continues, and nothing is lost or done twice", async () => {
  await assertContinues(await replicated())
})

test("when a replica that lacks confirmed writes replaces a dead server, the store reports the loss", async () => {
  await assertLossReported(await replicated())
})
