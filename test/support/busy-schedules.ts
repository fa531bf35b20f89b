import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import type { Store } from "belfry/store"
import { succeed } from "../../src/core/run/run.ts"
import { aSchedule } from "../../src/store/laws/factories.ts"
import { countRuns } from "../../src/store/laws/steps.ts"

/** Schedules for processes that are killed while they fire, and the end of the runs that they leave. */

/** Returns the instant of the first occurrence. From then on each schedule has one per second. */
export async function putSchedules(store: Store, count: number): Promise<number> {
  await store.open()
  const anchor = Math.ceil((await store.now()) / 1_000) * 1_000
  for (let at = 0; at < count; at++) {
    const trigger = { kind: "every", everyMs: 1_000, anchor } as const
    const due = { nextRunAt: anchor, coveredUntil: anchor - 1, createdAt: anchor - 1 }
    // Half of them may not overlap, so that processes also compete for live keys and concurrency keys.
    const overlap = { policy: at % 2 === 0 ? "allow" : "skip", limit: 1 } as const
    const policy = at % 2 === 0 ? "all" : "once"
    const catchUp = { policy, graceMs: 60_000, windowMs: 86_400_000, limit: 100 } as const
    const schedule = aSchedule({ id: `s${at}`, triggers: [trigger], overlap, catchUp, ...due })
    assert.equal((await store.putSchedule(schedule, null)).outcome, "done")
  }
  return anchor
}

/** One worker finishes the runs of the killed processes when their leases have ended. */
export async function finishRest(store: Store): Promise<void> {
  const request = { workerId: "last", tasks: [{ name: "report", leaseMs: 60_000 }], limit: 100 }
  for (let rounds = 0; rounds < 200; rounds++) {
    const { runs } = await store.claim(request)
    await store.transition(runs.map((run) => succeed(run, { message: "last", details: null })))
    const { pending, running } = await countRuns(store)
    if (pending + running === 0) return
    if (runs.length === 0) await sleep(100)
  }
  assert.fail("the remaining runs are finished within 20 seconds")
}
