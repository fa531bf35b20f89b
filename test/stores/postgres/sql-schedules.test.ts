import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, test } from "vitest"
import { until } from "./scratch.ts"
import { anIntegrator, DAILY } from "./sql-integrator.ts"

/** Schedules whose rows a user writes by SQL, while a Belfry process runs on the same database. */

const self = anIntegrator()
const { sql, rowOf } = self

describe("a schedule row", () => {
  test("inserted with only a cron is planned at once, and does not fire", async () => {
    await sql(
      "insert into belfry.schedules (id, cron, timezone, task) values ('nightly', '0 3 29 2 *', 'Europe/Paris', 'report')",
    )

    const row = await rowOf("select next_run_at from belfry.schedules where unsettled is null")
    assert.match(row["next_run_at"].toISOString(), /-02-29T02:00:00.000Z$/, "three o'clock in Paris")
    assert.equal(self.performed.length, 0)
    assert.equal((await self.scheduler.schedules.get("nightly"))?.timezone, "Europe/Paris")
  })

  test("fires, and its runs have ids and payloads like any others", async () => {
    await sql(
      `insert into belfry.schedules (id, cron, task, payload) values ('often', '* * * * * *', 'report', '{"to":"ann"}')`,
    )

    await self.untilPerformed(2)
    assert.match(self.performed[0]!.id, /^often@\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.deepEqual(self.performed[0]!.payload, { to: "ann" })
  })

  test("with a changed cron or time zone is planned again, without firing", async () => {
    await sql("insert into belfry.schedules (id, cron, task) values ('yearly', '0 3 29 2 *', 'report')")
    const before = await rowOf("select next_run_at, version from belfry.schedules where unsettled is null")
    await sql("update belfry.schedules set cron = '0 4 1 1 *', timezone = 'Asia/Tokyo' where id = 'yearly'")

    const after = await rowOf(
      "select next_run_at, version, revision from belfry.schedules where unsettled is null",
    )
    assert.match(after["next_run_at"].toISOString(), /-12-31T19:00:00.000Z$/)
    assert.ok(Number(after["version"]) > Number(before["version"]))
    assert.equal(after["revision"], 2, "an editor who read the older revision is refused")
    assert.equal(self.performed.length, 0)
  })

  test("that was due before an edit still fires by the old definition", async () => {
    await self.scheduler.stop()
    await sql(
      `insert into belfry.schedules (id, cron, task, payload, next_run_at)
       values ('due', '0 3 * * *', 'report', '"old"', '2026-01-01 03:00Z')`,
    )
    await sql("update belfry.schedules set cron = '0 3 1 1 *', payload = '\"new\"' where id = 'due'")
    await self.startAnother()

    await self.untilPerformed(1)
    assert.equal(self.performed[0]!.payload, "old")
    const ledger = await rowOf("select missed from belfry.runs where reason = 'coalesced'")
    assert.equal(new Date(ledger["missed"].from).toISOString(), "2026-01-01T03:00:00.000Z")
    const after = await rowOf("select next_run_at from belfry.schedules where next_run_at > now()")
    assert.match(after["next_run_at"].toISOString(), /-01-01T03:00:00.000Z$/)
  })

  test.each([
    ["an insert", []],
    ["an update that enables it", ["enabled = false"]],
    ["an update of the cron", ["cron = '0 4 1 1 *'"]],
  ])("with next_run_at = now() in %s fires now, and then follows its cron", async (_, before) => {
    await self.scheduler.stop()
    const jitter = `'{"jitter": "2h"}'`
    if (before.length === 0) {
      await sql(`insert into belfry.schedules (id, cron, task, options, next_run_at)
        values ('yearly', '0 3 1 1 *', 'report', ${jitter}, now())`)
    } else {
      await sql(`insert into belfry.schedules (id, cron, task, options)
        values ('yearly', '0 3 1 1 *', 'report', ${jitter})`)
      await sql(`update belfry.schedules set ${before[0]}`)
      await sql("update belfry.schedules set enabled = true, cron = '0 3 1 1 *', next_run_at = now()")
    }
    await self.startAnother()

    await self.untilPerformed(1)
    const after = await rowOf("select next_run_at, overrides from belfry.schedules where next_run_at > now()")
    assert.match(after["next_run_at"].toISOString(), /-01-01T0[345]:/)
    assert.deepEqual(after["overrides"], [], "the next occurrence is the regular one")
  })

  test("keeps twenty of a hundred unsettled edits apart", async () => {
    await self.scheduler.stop()
    await sql(
      "insert into belfry.schedules (id, cron, task, next_run_at) values ('x', '0 3 1 1 *', 'report', '2026-01-01 03:00Z')",
    )
    for (let n = 1; n <= 100; n++)
      await sql(`update belfry.schedules set payload = '${n}', cron = '${n % 60} 3 1 1 *'`)
    const [row] = await sql("select unsettled from belfry.schedules")
    await self.startAnother()

    assert.equal(row!["unsettled"].length, 20)
    assert.deepEqual(row!["unsettled"].at(-1).was, { cron: "19 3 1 1 *", payload: 19 })
    await self.untilPerformed(1)
    assert.deepEqual(
      self.performed.map(({ id }) => id),
      ["x@2026-01-01T03:00:00Z"],
    )
  })

  test("with its own next_run_at keeps it, and fires when it is due", async () => {
    await sql(`insert into belfry.schedules (id, cron, task, next_run_at) values
      ('later', '0 3 * * *', 'report', now() + interval '1 year'), ('missed', '0 3 * * *', 'report', '2026-01-01 03:00Z')`)

    await self.untilPerformed(1)
    assert.match(self.performed[0]!.id, /^missed@/)
    const [later] = await sql(
      "select next_run_at > now() + interval '364 days' as is_kept from belfry.schedules where id = 'later'",
    )
    assert.equal(later!["is_kept"], true)
  })

  test("with next_run_at set to null is planned without firing", async () => {
    await sql(
      `insert into belfry.schedules (id, cron, task, next_run_at) values ('later', '${DAILY}', 'report', now() + interval '1 year')`,
    )
    await sql("update belfry.schedules set next_run_at = null where id = 'later'")

    await rowOf(
      "select 1 from belfry.schedules where next_run_at < now() + interval '2 days' and unsettled is null",
    )
    assert.equal(self.performed.length, 0)
  })

  test("does not fire while it is disabled, and continues from now when it is enabled", async () => {
    await sql(`insert into belfry.schedules (id, cron, task) values ('nightly', '${DAILY}', 'report')`)
    await rowOf("select 1 from belfry.schedules where unsettled is null")
    await sql("update belfry.schedules set enabled = false where id = 'nightly'")
    await rowOf("select 1 from belfry.schedules where next_run_at is null")
    await sql("update belfry.schedules set enabled = true where id = 'nightly'")

    await rowOf("select 1 from belfry.schedules where next_run_at > now() and unsettled is null")
  })

  test.each([
    ["cron", "cron = 'every noon'", /every noon/],
    ["time zone", "timezone = 'Mars/Olympus'", /Mars\/Olympus/],
    ["value of an option", `options = '{"overlap": "sometimes"}'`, /overlap is "sometimes"; use "skip"/],
    ["name of an option", `options = '{"overlaps": "skip"}'`, /overlaps/],
  ])(
    "with an invalid %s has the error recorded and logged, and other schedules continue",
    async (_, change, expected) => {
      await sql(
        `insert into belfry.schedules (id, cron, task) values ('bad', '${DAILY}', 'report'), ('good', '${DAILY}', 'report')`,
      )
      await rowOf("select from belfry.schedules where unsettled is null having count(*) = 2")
      await sql(`update belfry.schedules set ${change} where id = 'bad'`)
      await sql("update belfry.schedules set next_run_at = clock_timestamp() where id = 'good'")

      const row = await rowOf(
        "select last_error, next_run_at from belfry.schedules where id = 'bad' and last_error is not null",
      )
      assert.match(row["last_error"], expected)
      assert.equal(row["next_run_at"], null)
      await self.untilPerformed(1)
      await until(
        () => self.logged.some((line) => line.level === "warn" && /bad/.test(JSON.stringify(line))),
        "a warning is logged",
      )

      await sql(
        `update belfry.schedules set cron = '${DAILY}', timezone = 'UTC', options = '{}' where id = 'bad'`,
      )
      await rowOf(
        "select 1 from belfry.schedules where id = 'bad' and last_error is null and next_run_at > now()",
      )
    },
  )

  test("has options with the names of the API", async () => {
    await sql(
      `insert into belfry.schedules (id, cron, task, options)
       values ('nightly', '${DAILY}', 'report', '{"overlap": "queue", "catchUp": "none", "timeout": "10m"}')`,
    )
    await rowOf("select 1 from belfry.schedules where unsettled is null")

    const { overlap, catchUp, timeoutMs } = (await self.scheduler.schedules.get("nightly"))!
    assert.deepEqual([overlap.policy, catchUp.policy, timeoutMs], ["queue", "none", 600_000])
  })

  test("with a function has the task sql, and no other", async () => {
    const insert = (task: string) =>
      sql(
        `insert into belfry.schedules (id, cron, function, task) values ('f', '${DAILY}', 'app.f', ${task})`,
      )
    await assert.rejects(insert("'report'"), /has both the task "report" and the function "app\.f"/)
    await insert("'sql'")
    await sql("delete from belfry.schedules")
    await insert("null")
    await assert.rejects(sql("update belfry.schedules set task = 'report'"), /has both the task "report"/)

    const [row] = await sql("select task, function from belfry.schedules")
    assert.deepEqual(row, { task: "sql", function: "app.f" })
  })

  test("can be deleted, and its runs remain", async () => {
    await sql("insert into belfry.schedules (id, cron, task) values ('often', '* * * * * *', 'report')")
    await self.untilPerformed(1)
    await sql("delete from belfry.schedules where id = 'often'")
    const unfinished = "select from belfry.runs where state in ('pending', 'running')"
    await until(async () => (await sql(unfinished)).length === 0, "runs that had been fired are performed")
    const count = self.performed.length
    await sleep(1_100)

    assert.equal(self.performed.length, count)
    assert.equal((await sql("select from belfry.runs")).length, count)
  })

  test("can't change its id, and an id that is not safe in a URL is refused", async () => {
    await sql("insert into belfry.schedules (id, cron, task) values ('one', '0 3 * * *', 'report')")

    await assert.rejects(sql("update belfry.schedules set id = 'two'"), /can't be changed/)
    await assert.rejects(
      sql("insert into belfry.schedules (id, cron, task) values ('a b', '0 3 * * *', 'report')"),
      /not valid/,
    )
  })
})
