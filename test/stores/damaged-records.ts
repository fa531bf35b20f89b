import assert from "node:assert/strict"
import { aClaim, aRun, aSchedule, type Schedule, type Store } from "belfry/store"
import { expect, test } from "vitest"
import { planFire } from "../../src/core/planning/fire.ts"
import { aPage, created, enqueued, runById, scheduleById } from "../../src/store/laws/steps.ts"

/** A store, and a function that writes into its records directly, without the store's checks. */
export interface Damageable {
  readonly store: Store
  write(kind: "schedule" | "run", id: string, part: string, value: string): Promise<void>
}

/** The columns or fields of a record that are damaged. Broken JSON is written, or the value after " = ". */
export interface Parts {
  readonly schedule: readonly string[]
  readonly run: readonly string[]
}

/** Law 12, Apart, for reads: a record that can't be read harms no other record. */
export function damagedRecords(open: () => Promise<Damageable>, parts: Parts): void {
  test.each(parts.schedule)("a schedule with a damaged %s shows an error, and others fire", async (part) => {
    const { store, write } = await open()
    const [bad, good] = await twoDueSchedules(store)
    await write("schedule", bad.id, ...damageOf(part))

    const { due, now } = await store.dueSchedules({ limit: 10 })
    const plans = due.map(({ schedule, facts }) => planFire(schedule, facts, now))
    const answers = await store.fire(plans)

    assert.deepEqual(due.map(({ schedule }) => schedule.id).sort(), [bad.id, good.id].sort())
    expect(answers).toEqual([
      { outcome: "done", created: expect.anything() },
      { outcome: "done", created: expect.anything() },
    ])
    assert.match((await scheduleById(store, bad.id)).lastError!, /can't be read/)
    assert.equal((await scheduleById(store, good.id)).lastError, null)
    assert.deepEqual((await store.dueSchedules({ limit: 10 })).due, [])
  })

  test.each(parts.schedule)("a schedule with a damaged %s is listed, and can be replaced", async (part) => {
    const { store, write } = await open()
    const [bad, good] = await twoDueSchedules(store)
    await write("schedule", bad.id, ...damageOf(part))

    const listed = await store.findSchedules({}, { orderBy: "id", after: null, limit: 10 })
    const { version } = listed.find(({ id }) => id === bad.id)!
    const answer = await store.putSchedule({ ...bad, description: "repaired" }, version)

    assert.deepEqual(listed.map(({ id }) => id).sort(), [bad.id, good.id].sort())
    assert.equal(answer.outcome, "done")
    const repaired = await scheduleById(store, bad.id)
    assert.deepEqual([repaired.description, repaired.lastError], ["repaired", null])
  })

  test.each(parts.run)("a run with a damaged %s becomes failed, and other runs are given", async (part) => {
    const { store, write } = await open()
    const [bad, good] = [await enqueued(store, aRun()), await enqueued(store, aRun())]
    await write("run", bad.id, ...damageOf(part))

    const { runs } = await store.claim(aClaim())

    assert.deepEqual(
      runs.map(({ id }) => id),
      [good.id],
    )
    const failed = await runById(store, bad.id)
    assert.equal(failed.state, "failed")
    assert.match(failed.error!, /can't be read/)
    assert.deepEqual((await store.claim(aClaim())).runs, [])
  })

  test.each(parts.run)(
    "a run with a damaged %s is listed with an error, if the list reads that part",
    async (part) => {
      const { store, write } = await open()
      const [bad, good] = [await enqueued(store, aRun()), await enqueued(store, aRun())]
      await write("run", bad.id, ...damageOf(part))

      const listed = await store.findRuns({}, aPage())

      assert.deepEqual(listed.map(({ id }) => id).sort(), [bad.id, good.id].sort())
      assert.match((await runById(store, bad.id)).error!, /can't be read/)
      const summary = listed.find(({ id }) => id === bad.id)!
      if (!WHOLE_RUNS_ONLY.test(part)) assert.match(summary.error!, /can't be read/)
    },
  )
}

/** Parts that a summary doesn't read. */
const WHOLE_RUNS_ONLY = /payload|retry|details|attempts/

function damageOf(part: string): [part: string, value: string] {
  const [name, value = "{damaged"] = part.split(" = ") as [string, string?]
  return [name, value]
}

async function twoDueSchedules(store: Store): Promise<readonly [Schedule, Schedule]> {
  const due = { nextRunAt: 1, coveredUntil: 0 }
  return [await created(store, aSchedule(due)), await created(store, aSchedule(due))]
}
