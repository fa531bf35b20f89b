import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { createLocks, type LockBackend } from "../../src/lock.ts"
import type { Turn } from "./another-process.ts"

/** See `another-process.ts`. */

const [kind, where, file, prefix] = process.argv.slice(2) as [string, string, string, string]

async function backendOf(): Promise<LockBackend> {
  if (kind === "sqlite") return (await import("../../src/sqlite.ts")).sqliteLocks(where)
  if (kind === "redis") return (await import("../../src/redis-locks.ts")).redisLocks(where, { prefix })
  return (await import("../../src/postgres.ts")).postgresLocks(where)
}

const locks = createLocks(await backendOf())
const turns: Turn[] = []
for (let turn = 0; turn < 20; turn++) {
  await locks.using("count", { ttl: "10s", wait: "20s" }, async ({ fence }) => {
    const count = 1 + (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0)
    await sleep(1)
    writeFileSync(file, String(count))
    turns.push({ count, fence })
  })
}
await locks.close()
console.log(JSON.stringify(turns))
