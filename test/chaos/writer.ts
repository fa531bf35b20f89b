/**
 * One of several processes on one store: fires due schedules, claims runs and finishes them, until it is killed or stopped.
 * `node --import tsx test/chaos/writer.ts <address> <name> <witness>`. It writes each attempt to the file `witness` before it
 * does anything with it, and again when the store has accepted its end. On stdin, "stop" ends the process. "hold" makes it print
 * a line and wait as soon as it has claimed runs, to be killed there: on a fast machine random kills rarely hit a busy process.
 */
import { appendFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { BelfryError } from "belfry"
import type { Run } from "belfry/store"
import { planFire } from "../../src/core/planning/fire.ts"
import { succeed } from "../../src/core/run/run.ts"
import { aHeartbeat, aWorker } from "../../src/store/laws/factories.ts"
import { storeAt } from "./store-at.ts"

const [address, name, witness] = process.argv.slice(2) as [string, string, string]
const LEASE_MS = 1_000

let isStopping = false
let isToHold = false
process.stdin.on("data", (line) => {
  if (String(line).startsWith("hold")) isToHold = true
  else isStopping = true
})

const store = storeAt(address)
let [faults, finished, forgotten, isListening] = [0, 0, 0, false]
while (!isStopping) {
  try {
    if (!isListening) await listen()
    if ((await turn()) === 0) await sleep(20)
  } catch (error) {
    // The server is unreachable. Claimed runs are claimed by another process after their leases.
    if (!(error instanceof BelfryError) || error.code !== "BELFRY_STORE_UNAVAILABLE") throw error
    faults++
    await sleep(100)
  }
}
await store.close()
console.log(JSON.stringify({ faults, finished, forgotten }))
process.exit(0)

async function listen(): Promise<void> {
  await store.listen((hint) => {
    if (hint === "forgotten") forgotten++
  })
  isListening = true
}

/** Returns the number of claimed runs and due schedules. */
async function turn(): Promise<number> {
  const { now, due } = await store.dueSchedules({ limit: 20 })
  await store.fire(due.map(({ schedule, facts }) => planFire(schedule, facts, now)))
  const tasks = [{ name: "report", leaseMs: LEASE_MS }]
  const { runs } = await store.claim({ workerId: name, tasks, limit: 10 })
  write("given", runs)
  await store.heartbeat({
    ...aHeartbeat({ worker: aWorker({ id: name, pid: process.pid }) }),
    held: runs.map(({ id, attempt }) => ({ runId: id, attempt, leaseMs: LEASE_MS, progress: null })),
  })
  if (isToHold && runs.length > 0) {
    console.log(JSON.stringify({ holding: runs.length }))
    await new Promise(() => undefined)
  }
  const answers = await store.transition(runs.map((run) => succeed(run, { message: name, details: null })))
  const done = runs.filter((_, index) => answers[index]!.outcome === "done")
  write("finished", done)
  finished += done.length
  return runs.length + due.length
}

function write(what: string, runs: readonly Run[]): void {
  appendFileSync(witness, runs.map(({ id, attempt }) => `${what} ${id} ${attempt} ${name}\n`).join(""))
}
