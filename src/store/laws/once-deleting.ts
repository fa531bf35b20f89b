import assert from "node:assert/strict"
import type { NewRun } from "../../core/run.ts"
import type { Store } from "../store.ts"
import { aPlan, aRunOf, aSchedule, aSkip, LONG_MS } from "./factories.ts"
import { lawCase } from "./law.ts"
import { created, runById, sorted } from "./steps.ts"

/** Law 4: a schedule that is deleted and made again has the same ids, and its occurrences to come are still to become something. */
export const ONCE_DELETING = [
  lawCase("A schedule made again fires what was skipped of the time to come", async (store) => {
    const first = await created(store, aSchedule({ id: "again" }))
    const kept = await recordsOf(store, first.id)

    assert.equal((await store.deleteSchedule(first.id, first.version)).outcome, "done")

    await firesAgain(store, kept)
  }),
  lawCase("So does one that a plan removed", async (store) => {
    const first = await created(store, aSchedule({ id: "again" }))
    const kept = await recordsOf(store, first.id)

    await store.fire([aPlan(first, { progress: null })])

    await firesAgain(store, kept)
  }),
  lawCase("A delete that comes too late forgets nothing", async (store) => {
    const schedule = await created(store, aSchedule())
    const scheduledFor = (await store.now()) + LONG_MS
    await store.enqueue([aSkip({ id: "next", scheduleId: schedule.id, scheduledFor })])

    const answer = await store.deleteSchedule(schedule.id, schedule.version + 1)

    assert.deepEqual(answer, { outcome: "stale" })
    assert.equal((await runById(store, "next")).state, "skipped")
  }),
]

/** What stays of a schedule, and what goes: one skip, and one for several occurrences. */
async function recordsOf(store: Store, scheduleId: string) {
  const now = await store.now()
  const skip = (over: Partial<NewRun>) => aSkip({ scheduleId, ...over })
  const missed = { from: now - 1, until: now + 2 * LONG_MS, count: 3 }
  const toStay = [
    skip({ id: "past", scheduledFor: now }),
    skip({ id: "by hand", scheduledFor: null }),
    aRunOf(scheduleId, { id: "moved forward", scheduledFor: now + LONG_MS }),
    aSkip({ id: "another", scheduleId: `${scheduleId}-not`, scheduledFor: now + LONG_MS }),
  ]
  const toGo = [
    skip({ id: "next", scheduledFor: now + LONG_MS }),
    skip({ id: "range", scheduledFor: missed.until, missed }),
  ]
  await store.enqueue([...toStay, ...toGo])
  return { toStay, toGo }
}

async function firesAgain(
  store: Store,
  { toStay, toGo }: { toStay: readonly NewRun[]; toGo: readonly NewRun[] },
): Promise<void> {
  const again = await created(store, aSchedule({ id: "again" }))
  const occurrences = [...toStay, ...toGo].map(({ id, scheduledFor }) => aSkip({ id, scheduledFor }))

  const [answer] = await store.fire([aPlan(again, { runs: occurrences })])

  assert.ok(answer?.outcome === "done")
  assert.deepEqual(sorted(answer.created), sorted(toGo.map(({ id }) => id)))
  const counts = await store.countRuns({})
  assert.deepEqual([counts.pending, counts.skipped], [1, 5])
}
