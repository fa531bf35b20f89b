/**
 * The time to acquire and release an uncontended lock on each backend, over loopback, one lock at a time.
 * `npx tsx bench/locks.ts`, or with a number of rounds: `npx tsx bench/locks.ts 2000`.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createLocks, type LockBackend, memoryLocks } from "../src/lock.ts"
import { postgresLocks } from "../src/postgres.ts"
import { redisLocks } from "../src/redis.ts"
import { sqliteLocks } from "../src/sqlite.ts"
import { startPostgres } from "../test/support/postgres.ts"
import { startRedis } from "../test/support/redis.ts"
import { median, percentile, perSecond } from "./shared/figures.ts"

const ROUNDS = Number(process.argv.slice(2).find((word) => !word.startsWith("-")) ?? 10_000)
const WARM_UP = 1_000
const REDIS_P99_TARGET_MS = 2

const folder = mkdtempSync(join(tmpdir(), "belfry-bench-"))
const postgres = await startPostgres({ fsync: true })
const redis = await startRedis()
const keptRedis = await startRedis({ isKept: true })
try {
  const figures = {
    memory: await measured(memoryLocks()),
    SQLite: await measured(sqliteLocks(join(folder, "belfry.db"))),
    "PostgreSQL, fsync on": await measured(postgresLocks(postgres.url)),
    Redis: await measured(redisLocks(redis.url)),
    "Redis, append-only, fsync always": await measured(redisLocks(keptRedis.url)),
  }
  console.log(`Acquire and release, ${ROUNDS} rounds after ${WARM_UP}, milliseconds, Node ${process.version}`)
  console.table(figures)
  const p99 = figures.Redis["p99 both"]!
  const verdict = p99 < REDIS_P99_TARGET_MS ? "met" : "missed"
  console.log(
    `Target: p99 of acquire and release on Redis below ${REDIS_P99_TARGET_MS} ms: ${p99}, ${verdict}`,
  )
} finally {
  await Promise.all([postgres.stop(), redis.stop(), keptRedis.stop()])
  rmSync(folder, { recursive: true })
}

async function measured(backend: LockBackend): Promise<Record<string, number>> {
  const locks = createLocks(backend)
  const acquires: number[] = []
  const both: number[] = []
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const began = performance.now()
    const lock = await locks.acquire("bench", { ttl: "30s" })
    const acquiredAt = performance.now()
    await lock.release()
    if (round < 0) continue
    acquires.push(acquiredAt - began)
    both.push(performance.now() - began)
  }
  await locks.close()
  const totalMs = both.reduce((sum, ms) => sum + ms, 0)
  return {
    "p50 acquire": rounded(median(acquires)),
    "p99 acquire": rounded(percentile(acquires, 0.99)),
    "p50 both": rounded(median(both)),
    "p99 both": rounded(percentile(both, 0.99)),
    "rounds per second": Math.round(perSecond(ROUNDS, totalMs)),
  }
}

function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}
