import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createScheduler, defineTask, silentLogger } from "belfry"
import { postgres } from "belfry/postgres"
import pg from "pg"
import { test } from "vitest"
import { freshDatabase } from "../../support/fresh-database.ts"

/** Every SQL block of the guide, as it stands there, one after the other, beside a running process. */

const GUIDE = readFileSync(new URL("../../../docs/guides/postgres.md", import.meta.url), "utf8")
const BLOCKS = [...GUIDE.matchAll(/```sql\n([\s\S]*?)```/g)].map((match) => match[1]!)

test("the guide's SQL does what it says", async () => {
  const url = await freshDatabase()
  const report = defineTask({ name: "report", run: () => ({ success: true, message: "Sent" }) })
  await using scheduler = createScheduler({ store: postgres(url), tasks: [report], logger: silentLogger })
  await scheduler.start()
  const psql = new pg.Client(url)
  await psql.connect()

  const answers: pg.QueryResult[] = []
  for (const statement of BLOCKS.flatMap((block) => block.split(/;\n/)).filter(
    (text) => text.trim() !== "",
  )) {
    answers.push(await psql.query(statement))
    // As somebody who types: a process has looked meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 150))
  }
  await psql.end()

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
    [status["name"], status["enabled"], status["success_rate_percent"]],
    ["weekday-report", true, "100.0"],
  )
  const history = answers.at(-1)!.rows as { run_id: string; success: boolean; message: string }[]
  assert.ok(
    history.some(({ run_id, success, message }) => run_id === first!.run_id && success && message === "Sent"),
  )
  const resumed = await scheduler.schedules.get("weekday-report")
  assert.equal(resumed!.paused, null)
})
