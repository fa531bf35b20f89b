/**
 * The time of the reads that the dashboard and the CLI make, with 10,000 schedules and 1,000,000 runs, on SQLite, PostgreSQL and
 * Redis. `npm run bench -- reads`; `--quick` stores a tenth of the runs, `--only=postgres` measures one store.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { postgres } from "../src/postgres.ts"
import { redis } from "../src/redis.ts"
import { sqlite } from "../src/sqlite.ts"
import type { Store } from "../src/store/store.ts"
import { benchServer as postgresServer } from "./postgres/server.ts"
import { type Filling, fill } from "./reads/filling.ts"
import { type Read, readsOf } from "./reads/reads.ts"
import { benchServer as redisServer } from "./redis/server.ts"
import { progress, shown, type Verdict } from "./shared/figures.ts"
import { aboutRun, printVerdicts } from "./shared/report.ts"

const isQuick = process.argv.includes("--quick")
const FILLING: Filling = { schedules: 10_000, runs: isQuick ? 100_000 : 1_000_000 }
const TARGET_MS = 200
/** The first call counts too, although its cache is cold and its statement is not prepared. */
const CALLS = 5

const figures = new Map<string, Map<string, number>>()
const STORES = { sqlite: onSqlite, postgres: onPostgres, redis: onRedis }
const only = process.argv.find((word) => word.startsWith("--only="))?.slice("--only=".length)
for (const [name, measureOn] of Object.entries(STORES))
  if (only === undefined || only === name) await measureOn()
print()

async function onSqlite(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "belfry-reads-"))
  await measure("SQLite", sqlite(join(folder, "belfry.db")))
  rmSync(folder, { recursive: true })
}

async function onPostgres(): Promise<void> {
  const server = await postgresServer()
  await measure("PostgreSQL", postgres(await server.freshDatabase("reads")))
  await server.stop()
}

async function onRedis(): Promise<void> {
  const server = await redisServer()
  await measure("Redis", redis(await server.freshDatabase("reads")))
  await server.stop()
}

async function measure(name: string, store: Store): Promise<void> {
  await store.open()
  await fill(store, FILLING, (done) => progress(`${name}: ${shown(done)} of ${shown(FILLING.runs)} runs`))
  for (const read of await readsOf(store, FILLING)) {
    const row = figures.get(read.what) ?? new Map<string, number>()
    figures.set(read.what, row)
    row.set(name, await slowestOf(read))
  }
  await store.close()
}

async function slowestOf({ call }: Read): Promise<number> {
  let slowest = 0
  for (let times = 0; times < CALLS; times++) {
    const began = performance.now()
    await call()
    slowest = Math.max(slowest, performance.now() - began)
  }
  return slowest
}

function print(): void {
  console.log(
    `\n${aboutRun({}, `${shown(FILLING.schedules)} schedules, ${shown(FILLING.runs)} runs`, isQuick)}`,
  )
  console.log(`\nMilliseconds, the slowest of ${CALLS} calls`)
  const rows = [...figures].map(([what, row]) => [
    what,
    Object.fromEntries([...row].map(([name, ms]) => [name, shown(ms)])),
  ])
  console.table(Object.fromEntries(rows))
  printVerdicts(
    [...figures].flatMap(([what, row]): readonly Verdict[] => {
      const slowest = Math.max(...row.values())
      if (slowest <= TARGET_MS) return []
      return [{ measure: what, target: `≤ ${TARGET_MS} ms`, measured: `${shown(slowest)} ms`, isMet: false }]
    }),
  )
}
