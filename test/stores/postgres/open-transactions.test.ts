import assert from "node:assert/strict"
import type { PostgresStore } from "belfry/postgres"
import type pg from "pg"
import { afterEach, beforeAll, beforeEach, describe, test } from "vitest"
import { planFire } from "../../../src/core/planning/fire.ts"
import { DAY, NOON, openSqlHarness, type SqlHarness, scheduleIn } from "./sql-harness.ts"

/** Another program's transaction has triggered a schedule, and stays open. */

let store: PostgresStore
let psql: pg.Client
let other: pg.Client
let harness: SqlHarness

beforeAll(async () => {
  const opened = await openSqlHarness()
  ;({ store, psql, harness } = opened)
  other = await opened.connect()
  return opened.close
})
beforeEach(() => psql.query("delete from belfry.schedules; delete from belfry.runs"))
// An open transaction of one test would block the next.
afterEach(() => other.query("rollback"))

const FIRED = `x@${new Date(NOON).toISOString().replace(".000Z", "Z")}`
const DUE = { coveredUntil: NOON - DAY, nextRunAt: NOON }

async function runIds(): Promise<readonly string[]> {
  const { rows } = await psql.query("select id from belfry.runs order by id")
  return rows.map(({ id }) => id)
}

describe("a transaction that has triggered a schedule and stays open", () => {
  test.each(["allow", "queue", "replace"] as const)(
    "does not stop the schedule from firing with overlap %s",
    async (overlap) => {
      await store.putSchedule(scheduleIn({ options: { overlap }, progress: DUE }), null)
      await other.query("begin")
      await other.query("select belfry.trigger('x')")

      await harness.fireDue()

      assert.deepEqual(await runIds(), [FIRED])
      await other.query("commit")
      const { rows } = await psql.query("select total_runs from belfry.schedule_status")
      assert.deepEqual(rows, [{ total_runs: "2" }], "both runs are counted")
    },
  )

  test("holds a schedule whose runs may not overlap; it fires after the rollback", async () => {
    await store.putSchedule(scheduleIn({ progress: DUE }), null)
    await store.putSchedule({ ...scheduleIn({ progress: DUE }), id: "beside" }, null)
    await other.query("begin")
    await other.query("select belfry.trigger('x')")

    const { due, now } = await store.dueSchedules({ limit: 10 })
    const answers = await store.fire(due.map(({ schedule, facts }) => planFire(schedule, facts, now)))
    await other.query("rollback")
    await harness.fireDue()

    const outcomes = due.map(({ schedule: { id } }, index) => [id, answers[index]!.outcome])
    assert.deepEqual(Object.fromEntries(outcomes), { x: "held", beside: "done" })
    assert.deepEqual(await runIds(), [FIRED.replace("x", "beside"), FIRED])
  })
})
