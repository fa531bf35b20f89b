/**
 * One process on one SQLite file, in batches of 250: fires (read due schedules, plan, swap) and runs (claim, succeed), with the
 * bytes written for each. Also bursts: many schedulers that wake for the same instant.
 * `npm run bench -- sqlite`, or with a count: `npx tsx bench/sqlite.ts 50000`. Needs Node 24 or later.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sqlite } from "belfry/sqlite"
import type { NewRun, Schedule, Store } from "belfry/store"
import { planFire } from "../src/core/planning/fire.ts"
import type { FirePlan } from "../src/core/planning/plan.ts"
import { succeed } from "../src/core/run/run.ts"
import { HOUR } from "../src/core/time/instant.ts"
import { aRun, aSchedule } from "../src/store/laws/factories.ts"
import { burstsOptions, judgeBursts, measureBursts, printBursts } from "./shared/bursts.ts"
import { printVerdicts } from "./shared/report.ts"

const COUNT = Number(process.argv.slice(2).find((word) => !word.startsWith("-")) ?? 20_000)
const BURSTS = burstsOptions("sqlite/schedulers.ts")
const BATCH = 250
const NOTHING = { message: null, details: null }

const HOURLY: Partial<Schedule> = {
  triggers: [{ kind: "cron", cron: "0 * * * *", dayMatch: "either" }],
  payload: { customer: "c-1234567", kind: "digest" },
}

// The first pass is a warm-up: its code is still being compiled, so it is not measured.
await measureAll("normal", 5_000)
for (const durability of ["normal", "full"] as const) {
  console.log(`\nDurability ${durability}, ${COUNT} of each, in batches of ${BATCH}, Node ${process.version}`)
  console.table(await measureAll(durability, COUNT))
}

const folders: string[] = []
const files = {
  async freshDatabase() {
    const folder = mkdtempSync(join(tmpdir(), "belfry-bench-"))
    folders.push(folder)
    return join(folder, "belfry.db")
  },
}
const bursts = await measureBursts(files, BURSTS)
for (const folder of folders) rmSync(folder, { recursive: true })
printBursts(bursts, BURSTS)
printVerdicts(judgeBursts(bursts))

async function measureAll(durability: "normal" | "full", count: number): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), "belfry-bench-"))
  const path = join(folder, "belfry.db")
  const store = sqlite({ path, durability })
  await store.open()
  const figures = {
    "putSchedule, one by one": await measured(path, () => putAll(store, "first", count)),
    "fire: due, plan, swap": await measured(path, () => fireAll(store)),
    "fire: swap alone": await swapAlone(path, store, count),
    "run: claim, succeed": await measured(path, () => performAll(store)),
    enqueue: await measured(path, () => enqueueAll(store, count)),
    "run without a key": await measured(path, () => performAll(store)),
  }
  await store.close()
  rmSync(folder, { recursive: true })
  return figures
}

async function putAll(store: Store, name: string, count: number): Promise<number> {
  const hour = Math.floor((await store.now()) / HOUR) * HOUR
  for (let at = 0; at < count; at++) {
    const due = { nextRunAt: hour, coveredUntil: hour - HOUR, createdAt: hour - 24 * HOUR }
    await store.putSchedule(aSchedule({ id: `${name}-${at}`, ...HOURLY, ...due }), null)
  }
  return count
}

async function fireAll(store: Store): Promise<number> {
  for (let fired = 0; ; ) {
    const { now, due } = await store.dueSchedules({ limit: BATCH })
    if (due.length === 0) return fired
    const answers = await store.fire(due.map(({ schedule, facts }) => planFire(schedule, facts, now)))
    fired += answers.filter(({ outcome }) => outcome === "done").length
  }
}

/** Measures `fire` without reading and planning. */
async function swapAlone(path: string, store: Store, count: number): Promise<Record<string, number>> {
  await putAll(store, "second", count)
  const { now, due } = await store.dueSchedules({ limit: count })
  const plans: readonly FirePlan[] = due.map(({ schedule, facts }) => planFire(schedule, facts, now))
  return measured(path, async () => {
    for (let at = 0; at < count; at += BATCH) await store.fire(plans.slice(at, at + BATCH))
    return count
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

async function enqueueAll(store: Store, count: number): Promise<number> {
  for (let at = 0; at < count; at += BATCH) {
    const runs: NewRun[] = Array.from({ length: BATCH }, (_, index) =>
      aRun({ id: `enqueued-${at + index}`, payload: { customer: "c-1234567" } }),
    )
    await store.enqueue(runs)
  }
  return count
}

/** Counts the writes of the process, because SQLite overwrites the log from its start after each checkpoint. */
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
    // The rate on an idle machine with an infinitely fast disk.
    "per second of CPU": Math.round((count / (user + system)) * 1_000_000),
    "bytes written each": Math.round((bytesWritten() - written) / count),
    "file MB": Math.round(statSync(path).size / 1_048_576),
  }
}

/** Bytes that this process wrote to files, as Linux counts them. Unknown on other systems. */
function bytesWritten(): number {
  return process.resourceUsage().fsWrite * 512
}
