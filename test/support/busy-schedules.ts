import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import type { Store } from "belfry/store"
import { succeed } from "../../src/core/run.ts"
import { aSchedule } from "../../src/store/laws/factories.ts"
import { countRuns } from "../../src/store/laws/steps.ts"

/** What processes are kept busy with while they are killed, and how the rest is finished when they are gone. */

/** The instant of their first occurrence; from then on each has one a second. */
export async function putSchedules(store: Store, count: number): Promise<number> {
  await store.open()
  const anchor = Math.ceil((await store.now()) / 1_000) * 1_000
  for (let at = 0; at < count; at++) {
    const trigger = { kind: "every", everyMs: 1_000, anchor } as const
    const due = { nextRunAt: anchor, coveredUntil: anchor - 1, createdAt: anchor - 1 }
    // Half of them may not overlap, so live keys and concurrency keys are fought for as well.
    const overlap = { policy: at % 2 === 0 ? "allow" : "skip", limit: 1 } as const
    const policy = at % 2 === 0 ? "all" : "once"
    const catchUp = { policy, graceMs: 60_000, windowMs: 86_400_000, limit: 100 } as const
    const schedule = aSchedule({ id: `s${at}`, triggers: [trigger], overlap, catchUp, ...due })
    assert.equal((await store.putSchedule(schedule, null)).outcome, "done")
  }
  return anchor
}

/** What the killed ones held: their leases end, and one patient worker takes it. */
export async function finishRest(store: Store): Promise<void> {
  const request = { workerId: "last", tasks: [{ name: "report", leaseMs: 60_000 }], limit: 100 }
  for (let rounds = 0; rounds < 200; rounds++) {
    const { runs } = await store.claim(request)
    await store.transition(runs.map((run) => succeed(run, { message: "last", details: null })))
    const { pending, running } = await countRuns(store)
    if (pending + running === 0) return
    if (runs.length === 0) await sleep(100)
  }
  assert.fail("what was left is finished within twenty seconds")
}
