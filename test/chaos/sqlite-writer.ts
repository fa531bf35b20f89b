/**
 * One of several processes on one file, until it is killed or told to stop: fires what is due, claims, and finishes what it
 * claimed. `node --import tsx test/chaos/sqlite-writer.ts <path> <name>`. On stdin, "stop" ends it; "hold" lets it stand still with
 * its next runs in hand and say so, to be killed there: on a quick machine chance alone seldom hits a process at work.
 */
import { sqlite } from "belfry/sqlite"
import { planFire } from "../../src/core/fire.ts"
import { succeed } from "../../src/core/run.ts"

const [path, name] = process.argv.slice(2) as [string, string]
const LEASE_MS = 1_000

let isStopping = false
let isToHold = false
process.stdin.on("data", (line) => {
  if (String(line).startsWith("hold")) isToHold = true
  else isStopping = true
})

const store = sqlite(path)
await store.open()
let longestMs = 0
while (!isStopping) {
  const began = performance.now()
  const { now, due } = await store.dueSchedules({ limit: 20 })
  await store.fire(due.map(({ schedule, facts }) => planFire(schedule, facts, now)))
  const { runs } = await store.claim({
    workerId: name,
    tasks: [{ name: "report", leaseMs: LEASE_MS }],
    limit: 10,
  })
  // What a worker says it does is kept with the run: two that were given one attempt would both have a line.
  await store.appendLogs(
    runs.map(({ id, attempt }) => ({
      ...{
        runId: id,
        attempt,
        number: process.pid,
        level: "info" as const,
        message: name,
        fields: null,
        agoMs: 0,
      },
    })),
  )
  await store.heartbeat({
    worker: { id: name, host: "here", pid: process.pid, tasks: ["report"], slots: 10, state: "active" },
    isLeaving: false,
    held: runs.map(({ id, attempt }) => ({ runId: id, attempt, leaseMs: LEASE_MS, progress: null })),
  })
  if (isToHold && runs.length > 0) {
    console.log(JSON.stringify({ holding: runs.length }))
    await new Promise(() => undefined)
  }
  await store.transition(runs.map((run) => succeed(run, { message: name, details: null })))
  longestMs = Math.max(longestMs, performance.now() - began)
  if (runs.length + due.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
}
await store.close()
console.log(JSON.stringify({ longestMs: Math.round(longestMs) }))
process.exit(0)
