import assert from "node:assert/strict"
import { createScheduler, defineTask, type Scheduler } from "belfry"
import { postgres } from "belfry/postgres"
import pg from "pg"
import { afterEach, beforeEach, describe, test } from "vitest"
import { collectedLog } from "../../support/collected-log.ts"
import { freshDatabase } from "../../support/fresh-database.ts"

/** What an integrator does with nothing but SQL, while a process of ours runs on the same database. */

let url: string
let psql: pg.Client
let scheduler: Scheduler
let performed: { id: string; payload: unknown }[]
const log = collectedLog()

beforeEach(async () => {
  url = await freshDatabase()
  psql = new pg.Client(url)
  await psql.connect()
  performed = []
  const report = defineTask({
    name: "report",
    run: ({ run, payload }) => {
      performed.push({ id: run.id, payload })
      return { success: true, message: "Sent", details: { pages: 3 } }
    },
  })
  // Nothing is found by polling here: whatever happens, happens because the change was noticed.
  scheduler = createScheduler({
    store: postgres(url),
    tasks: [report],
    pollInterval: "1h",
    logger: log.logger,
  })
  await scheduler.start()
})

afterEach(async () => {
  await scheduler.stop()
  await psql.end()
})

describe("a schedule is a row", () => {
  test("inserted with a cron alone it is planned at once, and nothing fires", async () => {
    await sql(
      "insert into belfry.schedules (id, cron, timezone, task) values ('nightly', '0 3 * * *', 'Europe/Paris', 'report')",
    )

    const row = await until("select next_run_at from belfry.schedules where covered_until is not null")
    assert.match(row["next_run_at"].toISOString(), /T0[12]:00:00.000Z$/, "three o'clock in Paris")
    assert.equal(performed.length, 0)
    assert.equal((await scheduler.schedules.get("nightly"))?.timezone, "Europe/Paris")
  })

  test("it fires, and its run is told like any other", async () => {
    await sql(
      `insert into belfry.schedules (id, cron, task, payload) values ('often', '* * * * * *', 'report', '{"to":"ann"}')`,
    )

    await untilTrue(() => performed.length >= 2)
    assert.match(performed[0]!.id, /^often@\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.deepEqual(performed[0]!.payload, { to: "ann" })
  })

  test("a changed cron or zone is planned anew, without firing", async () => {
    await sql("insert into belfry.schedules (id, cron, task) values ('weekly', '0 3 * * 1', 'report')")
    const before = await until(
      "select next_run_at, version from belfry.schedules where covered_until is not null",
    )
    await sql("update belfry.schedules set cron = '0 4 1 1 *', timezone = 'Asia/Tokyo' where id = 'weekly'")

    const after = await until(
      "select next_run_at, version, revision from belfry.schedules where covered_until is not null",
    )
    assert.match(after["next_run_at"].toISOString(), /-12-31T19:00:00.000Z$/)
    assert.ok(Number(after["version"]) > Number(before["version"]))
    assert.equal(after["revision"], 2, "an editor who read it before is refused")
    assert.equal(performed.length, 0)
  })

  test("what was due already and is taken away by the change is in the ledger", async () => {
    await scheduler.stop()
    await sql(
      "insert into belfry.schedules (id, cron, task, next_run_at) values ('due', '0 3 * * *', 'report', '2026-01-01 03:00Z')",
    )
    await sql("update belfry.schedules set cron = '0 5 * * *' where id = 'due'")

    const [row] = await sql("select id, state, reason, message from belfry.runs")
    assert.deepEqual(row, {
      id: "due@2026-01-01T03:00:00Z",
      state: "skipped",
      reason: "operator",
      message: "Changed by SQL before it fired",
    })
  })

  test("a next run that is brought along is kept, and fires when it is due", async () => {
    await sql(`insert into belfry.schedules (id, cron, task, next_run_at) values
      ('later', '0 3 * * *', 'report', now() + interval '1 year'), ('missed', '0 3 * * *', 'report', '2026-01-01 03:00Z')`)

    await untilTrue(() => performed.length === 1)
    assert.match(performed[0]!.id, /^missed@/)
    const [later] = await sql(
      "select next_run_at > now() + interval '364 days' as is_kept from belfry.schedules where id = 'later'",
    )
    assert.equal(later!["is_kept"], true)
  })

  test("a null next run is planned without firing", async () => {
    await sql(
      "insert into belfry.schedules (id, cron, task, next_run_at) values ('later', '0 3 * * *', 'report', now() + interval '1 year')",
    )
    await sql("update belfry.schedules set next_run_at = null where id = 'later'")

    await until(
      "select 1 from belfry.schedules where next_run_at < now() + interval '2 days' and covered_until is not null",
    )
    assert.equal(performed.length, 0)
  })

  test("disabled it stands still, enabled it goes on from now", async () => {
    await sql("insert into belfry.schedules (id, cron, task) values ('nightly', '0 3 * * *', 'report')")
    await until("select 1 from belfry.schedules where covered_until is not null")
    await sql("update belfry.schedules set enabled = false where id = 'nightly'")
    await until("select 1 from belfry.schedules where next_run_at is null")
    await sql("update belfry.schedules set enabled = true where id = 'nightly'")

    await until("select 1 from belfry.schedules where next_run_at > now() and covered_until is not null")
  })

  test.each([
    ["cron", "cron = 'every noon'", /every noon/],
    ["zone", "timezone = 'Mars/Olympus'", /Mars\/Olympus/],
    ["option", `options = '{"overlap": "sometimes"}'`, /"sometimes" is unknown/],
    ["word", `options = '{"overlaps": "skip"}'`, /overlaps/],
    ["form", "options = '7'", /./],
  ])("an invalid %s is recorded on the row and logged, and the others go on", async (_, change, expected) => {
    await sql(
      "insert into belfry.schedules (id, cron, task) values ('bad', '0 3 * * *', 'report'), ('good', '0 3 * * *', 'report')",
    )
    await until("select 1 from belfry.schedules where id = 'bad' and covered_until is not null")
    await sql(`update belfry.schedules set ${change} where id = 'bad'`)
    await sql("update belfry.schedules set cron = '* * * * * *' where id = 'good'")

    const row = await until(
      "select last_error, next_run_at from belfry.schedules where id = 'bad' and last_error is not null",
    )
    assert.match(row["last_error"], expected)
    assert.equal(row["next_run_at"], null)
    await untilTrue(() => performed.length > 0)
    assert.ok(
      log.lines.some((line) => line.level === "warn" && /bad/.test(JSON.stringify(line))),
      "and it was said once, loudly",
    )

    await sql(
      "update belfry.schedules set cron = '0 3 * * *', timezone = 'UTC', options = '{}' where id = 'bad'",
    )
    await until(
      "select 1 from belfry.schedules where id = 'bad' and last_error is null and next_run_at > now()",
    )
  })

  test("its options are written in the words of the API", async () => {
    await sql(
      `insert into belfry.schedules (id, cron, task, options)
       values ('nightly', '0 3 * * *', 'report', '{"overlap": "queue", "catchUp": "none", "timeout": "10m"}')`,
    )
    await until("select 1 from belfry.schedules where covered_until is not null")

    const { overlap, catchUp, timeoutMs } = (await scheduler.schedules.get("nightly"))!
    assert.deepEqual([overlap.policy, catchUp.policy, timeoutMs], ["queue", "none", 600_000])
  })

  test("deleted it is gone, and its runs stay", async () => {
    await sql("insert into belfry.schedules (id, cron, task) values ('often', '* * * * * *', 'report')")
    await untilTrue(() => performed.length >= 1)
    await sql("delete from belfry.schedules where id = 'often'")
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const count = performed.length
    await new Promise((resolve) => setTimeout(resolve, 1_100))

    assert.equal(performed.length, count)
    assert.equal(Number((await sql("select count(*) from belfry.runs"))[0]!["count"]), count)
  })

  test("its id can't be changed, and an id that no URL could carry is refused", async () => {
    await sql("insert into belfry.schedules (id, cron, task) values ('one', '0 3 * * *', 'report')")

    await assert.rejects(sql("update belfry.schedules set id = 'two'"), /can't be changed/)
    await assert.rejects(
      sql("insert into belfry.schedules (id, cron, task) values ('a b', '0 3 * * *', 'report')"),
      /not valid/,
    )
  })
})

describe("operations are functions", () => {
  beforeEach(async () => {
    await sql(
      "insert into belfry.schedules (id, cron, task, payload) values ('nightly', '0 3 * * *', 'report', '[1]')",
    )
    await until("select 1 from belfry.schedules where covered_until is not null")
  })

  test("trigger: one run now, the next occurrence untouched", async () => {
    const [before] = await sql("select next_run_at from belfry.schedules")
    const [row] = await sql(`select belfry.trigger('nightly', '{"by":"hand"}') as answer`)

    const { success, run_id, job_name } = row!["answer"]
    assert.deepEqual([success, job_name], [true, "nightly"])
    await untilTrue(() => performed.some(({ id }) => id === run_id))
    assert.deepEqual(performed[0]!.payload, { by: "hand" })
    assert.deepEqual(await sql("select next_run_at from belfry.schedules"), [before])
  })

  test("trigger: while a run is unfinished there is no other, and the answer names it", async () => {
    await scheduler.stop()
    const [first] = await sql("select belfry.trigger('nightly') as answer")
    const [second] = await sql("select belfry.trigger('nightly') as answer")

    assert.deepEqual([second!["answer"].success, second!["answer"].run_id], [false, first!["answer"].run_id])
  })

  test("pause and resume: what fell into the pause is one record", async () => {
    await sql("update belfry.schedules set cron = '* * * * * *' where id = 'nightly'")
    await untilTrue(() => performed.length >= 1)
    await sql("select belfry.pause('nightly', 'stocktaking')")
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    await sql("select belfry.resume('nightly')")

    const row = await until("select message, missed from belfry.runs where reason = 'paused'")
    assert.match(row["message"], /^Paused by postgres: stocktaking$/)
    assert.ok(row["missed"].count >= 2)
    const count = performed.length
    await untilTrue(() => performed.length > count)
  })

  test("reschedule: the next occurrence comes at another time and keeps its name", async () => {
    const [before] = await sql(
      "select belfry.run_id(id, next_run_at) as run_id, next_run_at from belfry.schedules",
    )
    await sql("select belfry.reschedule('nightly', now() + interval '1 second')")

    await untilTrue(() => performed.length === 1)
    assert.equal(performed[0]!.id, before!["run_id"])
    const after = await until("select next_run_at from belfry.schedules where covered_until is not null")
    assert.equal(after["next_run_at"] - before!["next_run_at"], 24 * 3_600_000, "and then on by its cron")
  })

  test("enqueue: a run of any task, once for its key, together with the transaction", async () => {
    await sql("begin")
    await sql(`select belfry.enqueue('report', '{"user":"ann"}', key => 'ann')`)
    await sql("rollback")
    const [first] = await sql(
      `select belfry.enqueue('report', '{"user":"ann"}', delay => '1 hour', key => 'ann') as answer`,
    )
    const [second] = await sql(`select belfry.enqueue('report', '{"user":"ann"}', key => 'ann') as answer`)

    assert.equal(first!["answer"].success, true)
    assert.deepEqual([second!["answer"].success, second!["answer"].run_id], [false, first!["answer"].run_id])
    assert.equal(performed.length, 0)
  })

  test("what isn't there is an error, and nothing happens", async () => {
    for (const call of ["trigger('x')", "pause('x')", "resume('x')", "reschedule('x', now())"]) {
      await assert.rejects(sql(`select belfry.${call}`), /There is no schedule "x"/)
    }
    await assert.rejects(
      sql("select belfry.pause('nightly', until => now() - interval '1 second')"),
      /not in the future/,
    )
    await assert.rejects(sql("select belfry.reschedule('nightly', '2020-01-01')"), /in the past/)
  })
})

describe("what happened is in two views", () => {
  test("each schedule's status, and each run's history", async () => {
    await sql(
      "insert into belfry.schedules (id, description, cron, task) values ('nightly', 'Totals', '0 3 * * *', 'report')",
    )
    await until("select 1 from belfry.schedules where covered_until is not null")
    await sql("select belfry.trigger('nightly')")
    await until("select 1 from belfry.runs where state = 'succeeded'")

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
})

test("everything is in the schema asked for, and another one is another Belfry", async () => {
  const store = postgres({ url, schema: "bells" })
  await store.open()
  await sql("insert into bells.schedules (id, cron, task) values ('nightly', '0 3 * * *', 'report')")
  const heard: string[] = []
  await store.listen((hint) => heard.push(hint))
  await untilTrue(() => heard.length > 0)
  heard.length = 0
  await sql("select bells.trigger('nightly')")

  assert.deepEqual(
    (await store.findSchedules({}, { afterId: null, limit: 10 })).map(({ id }) => id),
    ["nightly"],
  )
  assert.equal(await scheduler.schedules.get("nightly"), null)
  await untilTrue(() => heard.includes("runs"))
  await store.close()
})

// biome-ignore lint/suspicious/noExplicitAny: rows are whatever the statement says
type Row = Record<string, any>

async function sql(text: string): Promise<readonly Row[]> {
  return (await psql.query<Row>(text)).rows
}

async function until(text: string): Promise<Row> {
  for (let times = 0; times < 200; times++) {
    const [row] = await sql(text)
    if (row !== undefined) return row
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  return assert.fail(
    `within five seconds: ${text}; the rows are ${JSON.stringify(await sql("select * from belfry.schedules"))}`,
  )
}

async function untilTrue(condition: () => boolean): Promise<void> {
  for (let times = 0; times < 200; times++) {
    if (condition()) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  assert.fail(`within five seconds; the runs are ${JSON.stringify(await sql("select * from belfry.runs"))}`)
}
