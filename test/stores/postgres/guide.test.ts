import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createScheduler, defineTask, silentLogger } from "belfry"
import type pg from "pg"
import { test } from "vitest"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { aPsql, aStore, until } from "./scratch.ts"

/** Runs every SQL block of the guide, unchanged and in order, beside a running process. */

/** Without the grants: roles belong to the server, and grants.test.ts creates and drops them. */
const GUIDE = readFileSync(new URL("../../../docs/guides/postgres.md", import.meta.url), "utf8").replace(
  /<!-- grants -->[\s\S]*?\n```\n/,
  "",
)
const BLOCKS = [...GUIDE.matchAll(/```sql\n([\s\S]*?)```/g)].map((match) => match[1]!)

/** Schedules that are due, and runs that are not finished. */
const LEFT_TO_DO = `
  select
  from belfry.schedules
  where next_run_at <= clock_timestamp()
  union all
  select
  from belfry.runs
  where state = 'running' or state = 'pending' and claimable_at <= clock_timestamp()`

test("the guide's SQL does what the guide says", async () => {
  const url = await migratedDatabase()
  const report = defineTask({ name: "report", run: () => ({ success: true, message: "Sent" }) })
  await using scheduler = createScheduler({ store: aStore(url), tasks: [report], logger: silentLogger })
  await scheduler.start()
  const psql = await aPsql(url)

  const answers: pg.QueryResult[] = []
  for (const statement of BLOCKS.flatMap((block) => block.split(/;\n/)).filter(
    (text) => text.trim() !== "",
  )) {
    answers.push(await psql.query(statement))
    // Between statements that a person types, the process has time to react.
    await until(async () => (await psql.query(LEFT_TO_DO)).rowCount === 0, "nothing is left to do")
  }

  const row = (name: string) =>
    answers.map(({ rows }) => rows[0] as Record<string, unknown>).filter((row) => row && name in row)
  const [first, second] = row("trigger").map(
    (answer) => answer["trigger"] as { success: boolean; run_id: string },
  )
  assert.ok(first!.success && second!.success)
  const mars = row("last_error")[0]!
  assert.match(String(mars["last_error"]), /Mars\/Olympus/)
  const status = row("success_rate_percent")[0]!
  assert.deepEqual(
    [status["name"], status["status"], status["success_rate_percent"]],
    ["weekday-report", "active", "100.0"],
  )
  const history = answers.at(-1)!.rows as { run_id: string; success: boolean; message: string }[]
  assert.ok(
    history.some(({ run_id, success, message }) => run_id === first!.run_id && success && message === "Sent"),
  )
  const resumed = await scheduler.schedules.get("weekday-report")
  assert.equal(resumed!.paused, null)
})
