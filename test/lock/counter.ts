import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { createLocks, type LockBackend } from "../../src/lock.ts"
import { PATIENCE_MS } from "../support/patience.ts"
import { patientClock } from "../support/patient-clock.ts"
import type { Turn } from "./another-process.ts"

/** See `another-process.ts`. The time limits are so long that no call times out and no lock ends, even on a slow machine. */

const [kind, where, file, prefix] = process.argv.slice(2) as [string, string, string, string]

async function backendOf(): Promise<LockBackend> {
  const about = { where: "the test's server", deadlineMs: PATIENCE_MS, onWarning: () => undefined }
  if (kind === "sqlite") {
    const { createSqliteLocks } = await import("../../src/stores/sqlite/locks.ts")
    return createSqliteLocks({ path: where, durability: "normal", lockDeadlineMs: PATIENCE_MS }, patientClock)
  }
  if (kind === "redis") {
    const { createRedisLocks } = await import("../../src/stores/redis/locks.ts")
    const { clientFor } = await import("../../src/stores/redis/own-client.ts")
    const makeClient = async () => ({ client: await clientFor(where, PATIENCE_MS), isOwned: true })
    return createRedisLocks(makeClient, { ...about, prefix: `{${prefix}}` }, patientClock)
  }
  const { createPostgresLocks } = await import("../../src/stores/postgres/locks.ts")
  const { poolFor } = await import("../../src/stores/postgres/own-pool.ts")
  const makePool = async () => ({ pool: await poolFor(where, 4, PATIENCE_MS), isOwned: true })
  return createPostgresLocks(makePool, { ...about, schema: "belfry" }, patientClock)
}

const locks = createLocks(await backendOf())
const turns: Turn[] = []
for (let turn = 0; turn < 20; turn++) {
  await locks.using("count", { ttl: "10m", wait: "10m" }, async ({ fence }) => {
    const count = 1 + (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0)
    await sleep(1)
    writeFileSync(file, String(count))
    turns.push({ count, fence })
  })
}
await locks.close()
console.log(JSON.stringify(turns))
