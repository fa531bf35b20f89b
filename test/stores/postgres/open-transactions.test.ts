import assert from "node:assert/strict"
import type { PostgresStore } from "belfry/postgres"
import type pg from "pg"
import { afterEach, beforeAll, beforeEach, describe, test } from "vitest"
import { planFire } from "../../../src/core/fire.ts"
import { DAY, NOON, openBothDoors, scheduleIn, type TwoDoors } from "./two-doors.ts"

/** A transaction of somebody else's that has triggered a schedule, and takes its time. */

let store: PostgresStore
let psql: pg.Client
let other: pg.Client
let doors: TwoDoors

beforeAll(async () => {
  const both = await openBothDoors()
  ;({ store, psql, doors } = both)
  other = await both.connect()
  return both.close
})
beforeEach(() => psql.query("delete from belfry.schedules; delete from belfry.runs"))
// Whatever a test leaves open would keep the next one waiting.
afterEach(() => other.query("rollback"))

const FIRED = `x@${new Date(NOON).toISOString().replace(".000Z", "Z")}`
const DUE = { coveredUntil: NOON - DAY, nextRunAt: NOON }

async function runIds(): Promise<readonly string[]> {
  const { rows } = await psql.query("select id from belfry.runs order by id")
  return rows.map(({ id }) => id)
}

describe("a transaction that has triggered a schedule and stays open", () => {
  test.each(["allow", "queue", "replace"] as const)("doesn't keep it from firing: %s", async (overlap) => {
    await store.putSchedule(scheduleIn({ options: { overlap }, progress: DUE }), null)
    await other.query("begin")
    await other.query("select belfry.trigger('x')")

    await doors.look()

    assert.deepEqual(await runIds(), [FIRED])
    await other.query("commit")
    const { rows } = await psql.query("select total_runs from belfry.schedule_status")
    assert.deepEqual(rows, [{ total_runs: "2" }], "both are counted")
  })

  test("where runs may not overlap, it fires once it is known that there is no other", async () => {
    await store.putSchedule(scheduleIn({ progress: DUE }), null)
    await store.putSchedule({ ...scheduleIn({ progress: DUE }), id: "beside" }, null)
    await other.query("begin")
    await other.query("select belfry.trigger('x')")

    const { due, now } = await store.dueSchedules({ limit: 10 })
    const answers = await store.fire(due.map(({ schedule, facts }) => planFire(schedule, facts, now)))
    await other.query("rollback")
    await doors.look()

    const outcomes = due.map(({ schedule: { id } }, index) => [id, answers[index]!.outcome])
    assert.deepEqual(Object.fromEntries(outcomes), { x: "held", beside: "done" })
    assert.deepEqual(await runIds(), [FIRED.replace("x", "beside"), FIRED])
  })
})
