import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { beforeEach, describe, test } from "vitest"
import { cancel, release, retry } from "../../../src/core/run/run.ts"
import { aRun, LONG_MS } from "../../../src/store/laws/factories.ts"
import { claimed } from "../../../src/store/laws/steps.ts"
import { anOpenStore, until } from "./scratch.ts"
import { anIntegrator, DAILY } from "./sql-integrator.ts"

/** What a user can do with only SQL, while a Belfry process runs on the same database. */

const self = anIntegrator()
const { sql, rowOf } = self

describe("the SQL function", () => {
  beforeEach(async () => {
    await sql(
      `insert into belfry.schedules (id, cron, task, payload) values ('nightly', '${DAILY}', 'report', '[1]')`,
    )
    await rowOf("select 1 from belfry.schedules where unsettled is null")
  })

  test("trigger creates one run now, and leaves the next occurrence unchanged", async () => {
    const [before] = await sql("select next_run_at from belfry.schedules")
    const [row] = await sql(`select belfry.trigger('nightly', '{"by":"hand"}') as answer`)

    const { success, run_id, job_name } = row!["answer"]
    assert.deepEqual([success, job_name], [true, "nightly"])
    await until(() => self.performed.some(({ id }) => id === run_id))
    assert.deepEqual(self.performed[0]!.payload, { by: "hand" })
    assert.deepEqual(await sql("select next_run_at from belfry.schedules"), [before])
  })

  test("trigger creates no run while another is unfinished, and returns the id of that run", async () => {
    await self.scheduler.stop()
    const [first] = await sql("select belfry.trigger('nightly') as answer")
    const [second] = await sql("select belfry.trigger('nightly') as answer")

    assert.deepEqual([second!["answer"].success, second!["answer"].run_id], [false, first!["answer"].run_id])
  })

  test("pause, with resume, leaves one record for all occurrences of the pause", async () => {
    await sql("update belfry.schedules set cron = '* * * * * *' where id = 'nightly'")
    await self.untilPerformed(1)
    await sql("select belfry.pause('nightly', 'stocktaking')")
    await sleep(2_100)
    await sql("select belfry.resume('nightly')")

    const row = await rowOf("select message, missed from belfry.runs where reason = 'paused'")
    assert.match(row["message"], /^Paused by postgres: stocktaking$/)
    assert.ok(row["missed"].count >= 2)
    const count = self.performed.length
    await until(() => self.performed.length > count)
  })

  test("reschedule to an earlier time adds an occurrence, and keeps the regular one", async () => {
    const [before] = await sql("select next_run_at from belfry.schedules")
    const [row] = await sql("select belfry.reschedule('nightly', now() + interval '1 second') as answer")

    await self.untilPerformed(1)
    const at = new Date(row!["answer"].next_run).toISOString().replace(".000Z", "Z")
    assert.equal(self.performed[0]!.id, `nightly@${at}`)
    const after = await rowOf("select next_run_at, overrides from belfry.schedules where unsettled is null")
    assert.deepEqual(after["next_run_at"], before!["next_run_at"])
    assert.deepEqual(after["overrides"], [])
  })

  test("reschedule to a later time records nothing in advance, and next_run_at = null undoes it", async () => {
    const [before] = await sql("select next_run_at from belfry.schedules")
    await sql("select belfry.reschedule('nightly', now() + interval '30 days')")
    const { overrides } = await rowOf(
      "select overrides from belfry.schedules where overrides <> '[]' and unsettled is null",
    )

    await sql("update belfry.schedules set next_run_at = null where id = 'nightly'")

    const after = await rowOf(
      "select next_run_at from belfry.schedules where overrides = '[]' and unsettled is null",
    )
    assert.equal(overrides[0].isNext, true)
    assert.deepEqual([after, await sql("select id from belfry.runs")], [before, []])
  })

  test("enqueue creates a run of any task, once for a key, with the commit of the transaction", async () => {
    await sql("begin")
    await sql(`select belfry.enqueue('report', '{"user":"ann"}', key => 'ann')`)
    await sql("rollback")
    const [first] = await sql(
      `select belfry.enqueue('report', '{"user":"ann"}', delay => '1 hour', key => 'ann') as answer`,
    )
    const [second] = await sql(`select belfry.enqueue('report', '{"user":"ann"}', key => 'ann') as answer`)

    assert.equal(first!["answer"].success, true)
    assert.deepEqual([second!["answer"].success, second!["answer"].run_id], [false, first!["answer"].run_id])
    assert.equal(self.performed.length, 0)
  })

  test("raises an error for an unknown schedule or an invalid time", async () => {
    for (const call of ["trigger('x')", "pause('x')", "resume('x')", "reschedule('x', now())"]) {
      await assert.rejects(sql(`select belfry.${call}`), /There is no schedule "x"/)
    }
    await assert.rejects(
      sql("select belfry.pause('nightly', until => now() - interval '1 second')"),
      /not in the future/,
    )
    await assert.rejects(sql("select belfry.reschedule('nightly', '2020-01-01')"), /in the past/)
    await assert.rejects(
      sql("select belfry.reschedule('nightly', null)"),
      /^error: Schedule "nightly" can't be rescheduled: the time is missing\.$/,
    )
    await assert.rejects(sql("select belfry.trigger(null)"), /The schedule's id is missing\./)
  })
})

describe("the views", () => {
  test("show the status of each schedule and the history of each run", async () => {
    await sql(
      `insert into belfry.schedules (id, description, cron, task) values ('nightly', 'Totals', '${DAILY}', 'report')`,
    )
    await rowOf("select 1 from belfry.schedules where unsettled is null")
    await sql("select belfry.trigger('nightly')")
    await rowOf("select 1 from belfry.runs where state = 'succeeded'")

    const [status] = await sql("select * from belfry.schedule_status")
    const { name, enabled, last_run_success, success_rate_percent, last_error } = status!
    assert.deepEqual(
      { name, enabled, last_run_success, success_rate_percent, last_error },
      {
        name: "nightly",
        enabled: true,
        last_run_success: true,
        success_rate_percent: "100.0",
        last_error: null,
      },
    )
    assert.ok(status!["next_run"] > new Date() && status!["last_run"] <= new Date())

    const [run] = await sql("select * from belfry.run_history")
    assert.deepEqual(
      [run!["job_name"], run!["success"], run!["message"], run!["details"], run!["triggered_by"]],
      ["nightly", true, "Sent", { pages: 3 }, "manual"],
    )
    assert.ok(Number(run!["duration_ms"]) >= 0 && run!["performed_by"] !== "")
  })

  test("show the newest run as the last run in every state, and a pause also for a disabled schedule", async () => {
    await sql(`insert into belfry.schedules (id, cron, task) values ('nightly', '${DAILY}', 'unoffered')`)
    await rowOf("select 1 from belfry.schedules where unsettled is null")
    const last = async () => {
      const [row] = await sql(
        "select last_run_id, last_run_state, last_run_success, last_run_at is not null as is_dated, total_runs from belfry.schedule_status",
      )
      return Object.values(row!)
    }

    const [{ trigger }] = (await sql("select belfry.trigger('nightly') ->> 'run_id' as trigger")) as [
      { trigger: string },
    ]
    assert.deepEqual(await last(), [trigger, "pending", null, true, "1"])
    await self.scheduler.runs.cancel(trigger)
    assert.deepEqual(await last(), [trigger, "cancelled", false, true, "1"])

    await self.scheduler.schedules.pause("nightly", { by: "ada", reason: "moving" })
    await sql("update belfry.schedules set enabled = false")
    const [row] = await sql(
      "select status, status_reason, paused_by, paused_at is not null as is_dated from belfry.schedule_status",
    )
    assert.deepEqual(row, { status: "disabled", status_reason: "moving", paused_by: "ada", is_dated: true })
  })

  test("measure lateness from when a run was due, or from when it was released", async () => {
    const store = await anOpenStore(self.url)
    const tasks = [{ name: "unoffered", leaseMs: LONG_MS }]
    const lateMs = async () => Number((await sql("select late_ms from belfry.run_history"))[0]!["late_ms"])
    await store.enqueue([
      aRun({ id: "late", task: "unoffered", delayMs: null, notBefore: Date.now() - LONG_MS }),
    ])

    const first = await claimed(store, "late", { tasks })
    assert.equal(await lateMs(), first.startedAt! - first.dueAt!)
    assert.ok((await lateMs()) >= LONG_MS)

    await store.transition([release(first, "stopping")])
    const second = await claimed(store, "late", { tasks })
    const expected = second.startedAt! - second.attempts[0]!.endedAt
    assert.equal(await lateMs(), expected)

    await store.transition([cancel(second, { reason: null, by: null })!])
    assert.equal(await lateMs(), expected)
    await store.transition([retry({ ...second, state: "cancelled" }, null)!])
    assert.equal(await lateMs(), expected)
  })
})

test("each schema is a separate store with its own functions and hints", async () => {
  const store = await anOpenStore(self.url, { schema: "bells" })
  await sql(`insert into bells.schedules (id, cron, task) values ('nightly', '${DAILY}', 'report')`)
  const received: string[] = []
  await store.listen((hint) => received.push(hint))
  await until(() => received.length > 0)
  received.length = 0
  await sql("select bells.trigger('nightly')")

  assert.deepEqual(
    (await store.findSchedules({}, { orderBy: "id", after: null, limit: 10 })).map(({ id }) => id),
    ["nightly"],
  )
  assert.equal(await self.scheduler.schedules.get("nightly"), null)
  await until(() => received.includes("runs"))
})

describe("SQL functions refuse what the API refuses:", () => {
  const deep = `repeat('[', 65) || repeat(']', 65)`
  const keys = `select jsonb_object_agg(n, 1) from generate_series(1, 10001) as n`
  test.each([
    ["a task with invalid characters", "belfry.enqueue('bad name!')", /task "bad name!" can't be enqueued/],
    ["no task", "belfry.enqueue(null)", /can't be enqueued/],
    ["a negative delay", "belfry.enqueue('report', delay => '-1 s')", /delay -00:00:01 is negative/],
    ["a reschedule to infinity", "belfry.reschedule('nightly', 'infinity')", /of the years 1 to 9999/],
    [
      "a reschedule to the year 10000",
      "belfry.reschedule('nightly', '10000-01-01')",
      /of the years 1 to 9999/,
    ],
    ["an empty key", "belfry.enqueue('report', key => '')", /key has 0 characters: use 1 to 255/],
    ["a long key", "belfry.enqueue('report', key => repeat('k', 256))", /key has 256 characters/],
    ["a deep payload", `belfry.enqueue('report', (${deep})::jsonb)`, /nested deeper than 64 levels/],
    [
      "a large payload",
      "belfry.enqueue('report', to_jsonb(repeat('x', 1048577)))",
      /more than 1048576 bytes/,
    ],
    ["a payload of many keys", `belfry.enqueue('report', (${keys}))`, /more than 10000 keys/],
    [
      "a trigger's deep payload",
      `belfry.trigger('nightly', (${deep})::jsonb)`,
      /nested deeper than 64 levels/,
    ],
  ])("%s", async (_, called, expected) => {
    await sql("insert into belfry.schedules (id, task, cron) values ('nightly', 'report', '0 3 * * *')")

    await assert.rejects(sql(`select ${called}`), expected)
  })

  test("the largest valid values are accepted", async () => {
    const most = `repeat('[', 64) || repeat(']', 64)`

    await sql("select belfry.enqueue('report', delay => null, key => 'now')")
    await rowOf("select 1 from belfry.runs where live_key = 'key:now' and claimable_at is not null")
    await sql(`select belfry.enqueue('a.b:c/d-e_f', (${most})::jsonb, key => repeat('k', 255))`)
  })
})
