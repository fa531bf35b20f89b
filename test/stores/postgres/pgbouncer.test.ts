import assert from "node:assert/strict"
import { createScheduler, defineTask, silentLogger } from "belfry"
import { postgres } from "belfry/postgres"
import { afterAll, beforeAll, describe, inject, test } from "vitest"
import { freshDatabase } from "../../support/fresh-database.ts"
import { type PgBouncer, startPgBouncer } from "../../support/pgbouncer.ts"
import { proveLaws } from "./schema-lab.ts"
import { aPsql, atTheEnd, until } from "./scratch.ts"

/** Behind a pooler that lends connections for one transaction at a time: no session is ours, and nobody can listen. */

describe.skipIf(!inject("hasPgBouncer"))("behind PgBouncer,", () => {
  let bouncer: PgBouncer
  let direct: string
  let url: string

  beforeAll(async () => {
    bouncer = await startPgBouncer(inject("postgres"), { poolSize: 8 })
    direct = await freshDatabase()
    url = bouncer.through(direct)
  })
  afterAll(() => bouncer?.stop())

  // In one database, since the pooler has connections of its own for each.
  proveLaws({ where: "behind PgBouncer", url: () => url })

  test("schedules fire and runs are performed on time, of which no hint was heard", async () => {
    const performed: { id: string; at: number }[] = []
    const tick = defineTask({
      name: "tick",
      run: ({ run }) => void performed.push({ id: run.id, at: Date.now() }),
    })
    const options = { tasks: [tick], pollInterval: "500ms", logger: silentLogger } as const
    const schedules = ["a", "b", "c"].map((id) =>
      tick.schedule(id, { cron: "* * * * * *", overlap: "allow" }),
    )
    const schema = "scheduler"
    // One fires, the other performs: what the first has done, the second only learns by looking.
    const firing = createScheduler({ ...options, store: postgres({ url, schema }), schedules })
    const working = createScheduler({ ...options, store: postgres({ url, schema }) })
    atTheEnd(() => Promise.all([firing.stop(), working.stop()]))
    await firing.start({ roles: ["fire"] })
    await working.start({ roles: ["work"] })

    await until(() => performed.length >= 12, "twelve are performed")
    const { runId } = await firing.enqueue(tick)
    await until(() => performed.some(({ id }) => id === runId), "one that was enqueued is performed")
    await Promise.all([firing.stop(), working.stop()])

    const scheduled = performed.filter(({ id }) => id !== runId)
    assert.equal(new Set(scheduled.map(({ id }) => id)).size, scheduled.length, "none twice")
    const lateMs = scheduled.map(({ id, at }) => at - Date.parse(id.split("@")[1]!))
    assert.ok(Math.max(...lateMs) < 500 + 1_000, `poll and a second: ${lateMs}`)
    const psql = await aPsql(direct)
    const { rows } = await psql.query(`
      select count(*)::int as runs, count(distinct scheduled_for)::int as instants,
        extract(epoch from max(scheduled_for) - min(scheduled_for))::int + 1 as seconds
      from scheduler.runs
      where schedule_id is not null
      group by schedule_id`)
    assert.equal(rows.length, 3)
    for (const { runs, instants, seconds } of rows) assert.deepEqual([runs, instants], [seconds, seconds])
  })
})
