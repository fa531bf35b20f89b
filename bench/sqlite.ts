/**
 * What one process does on one SQLite file, in batches of 100: fires (read what is due, plan, swap) and runs (claim, then
 * succeed); with the write-ahead log's bytes for each. `npx tsx bench/sqlite.ts`, or with a count: `... 50000`.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sqlite } from "belfry/sqlite"
import type { NewRun, Schedule, Store } from "belfry/store"
import { planFire } from "../src/core/fire.ts"
import { HOUR } from "../src/core/instant.ts"
import type { FirePlan } from "../src/core/plan.ts"
import { succeed } from "../src/core/run.ts"
import { aRun, aSchedule } from "../src/store/laws/factories.ts"

const COUNT = Number(process.argv[2] ?? 20_000)
const BATCH = 250
const NOTHING = { message: null, details: null }

const HOURLY: Partial<Schedule> = {
  triggers: [{ kind: "cron", cron: "0 * * * *", dayMatch: "either" }],
  payload: { customer: "c-1234567", kind: "digest" },
}

for (const durability of ["normal", "full"] as const) {
  const folder = mkdtempSync(join(tmpdir(), "belfry-bench-"))
  const path = join(folder, "belfry.db")
  const store = sqlite({ path, durability })
  await store.open()
  console.log(`\nDurability ${durability}, ${COUNT} of each, in batches of ${BATCH}`)
  console.table({
    "putSchedule, one by one": await measured(path, () => putAll(store, "first")),
    "fire: due, plan, swap": await measured(path, () => fireAll(store)),
    "fire: swap alone": await swapAlone(path, store),
    "run: claim, succeed": await measured(path, () => performAll(store)),
    enqueue: await measured(path, () => enqueueAll(store)),
    "run without a key": await measured(path, () => performAll(store)),
  })
  await store.close()
  rmSync(folder, { recursive: true })
}

async function putAll(store: Store, name: string): Promise<number> {
  const hour = Math.floor((await store.now()) / HOUR) * HOUR
  for (let at = 0; at < COUNT; at++) {
    const due = { nextRunAt: hour, coveredUntil: hour - HOUR, createdAt: hour - 24 * HOUR }
    await store.putSchedule(aSchedule({ id: `${name}-${at}`, ...HOURLY, ...due }), null)
  }
  return COUNT
}

async function fireAll(store: Store): Promise<number> {
  for (let fired = 0; ; ) {
    const { now, due } = await store.dueSchedules({ limit: BATCH })
    if (due.length === 0) return fired
    const answers = await store.fire(due.map(({ schedule, facts }) => planFire(schedule, facts, now)))
    fired += answers.filter(({ outcome }) => outcome === "done").length
  }
}

/** Without the reading and the planning, which another process may do. */
async function swapAlone(path: string, store: Store): Promise<Record<string, number>> {
  await putAll(store, "second")
  const { now, due } = await store.dueSchedules({ limit: COUNT })
  const plans: readonly FirePlan[] = due.map(({ schedule, facts }) => planFire(schedule, facts, now))
  return measured(path, async () => {
    for (let at = 0; at < COUNT; at += BATCH) await store.fire(plans.slice(at, at + BATCH))
    return COUNT
  })
}

async function performAll(store: Store): Promise<number> {
  const request = { workerId: "worker", tasks: [{ name: "report", leaseMs: 30_000 }], limit: BATCH }
  for (let performed = 0; ; ) {
    const { runs } = await store.claim(request)
    if (runs.length === 0) return performed
    await store.transition(runs.map((run) => succeed(run, NOTHING)))
    performed += runs.length
  }
}

async function enqueueAll(store: Store): Promise<number> {
  for (let at = 0; at < COUNT; at += BATCH) {
    const runs: NewRun[] = Array.from({ length: BATCH }, (_, index) =>
      aRun({ id: `enqueued-${at + index}`, payload: { customer: "c-1234567" } }),
    )
    await store.enqueue(runs)
  }
  return COUNT
}

/** The log is written from its beginning again after each checkpoint, so its growth is counted by the process's writes. */
async function measured(path: string, work: () => Promise<number>): Promise<Record<string, number>> {
  const written = bytesWritten()
  const cpu = process.cpuUsage()
  const began = performance.now()
  const count = await work()
  const seconds = (performance.now() - began) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  return {
    count,
    "per second": Math.round(count / seconds),
    // What it would be on a machine that does nothing else, with a disk that takes no time.
    "per second of CPU": Math.round((count / (user + system)) * 1_000_000),
    "bytes written each": Math.round((bytesWritten() - written) / count),
    "file MB": Math.round(statSync(path).size / 1_048_576),
  }
}

/** By this process to files, as Linux counts it; elsewhere it isn't known. */
function bytesWritten(): number {
  return process.resourceUsage().fsWrite * 512
}
