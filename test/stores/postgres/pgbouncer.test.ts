import assert from "node:assert/strict"
import { createScheduler, defineTask, silentLogger } from "belfry"
import { afterAll, beforeAll, describe, inject, test } from "vitest"
import { freshDatabase } from "../../support/fresh-database.ts"
import { type PgBouncer, startPgBouncer } from "../../support/pgbouncer.ts"
import { proveLaws } from "./schema-lab.ts"
import { aPsql, aStore, atTheEnd, until } from "./scratch.ts"
import { everySecondHasItsRun } from "./seconds.ts"

/** Behind a pooler that lends connections for one transaction at a time: no session is ours, and nobody can listen. */

describe("behind PgBouncer,", () => {
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

  test("schedules fire and runs are performed, of which no hint was heard", async () => {
    const performed: string[] = []
    const tick = defineTask({ name: "tick", run: ({ run }) => void performed.push(run.id) })
    const options = { tasks: [tick], pollInterval: "200ms", logger: silentLogger } as const
    const schedules = ["a", "b", "c"].map((id) =>
      tick.schedule(id, { cron: "* * * * * *", overlap: "allow", catchUp: "all" }),
    )
    const schema = "scheduler"
    // One fires, the other performs: what the first has done, the second only learns by looking.
    const firing = createScheduler({ ...options, store: aStore(url, { schema }), schedules })
    const working = createScheduler({ ...options, store: aStore(url, { schema }) })
    atTheEnd(() => Promise.all([firing.stop(), working.stop()]))
    await firing.start({ roles: ["fire"] })
    await working.start({ roles: ["work"] })

    await until(() => performed.length >= 6, "six are performed")
    const { runId } = await firing.enqueue(tick)
    await until(() => performed.includes(runId), "one that was enqueued is performed")
    await Promise.all([firing.stop(), working.stop()])

    assert.equal(new Set(performed).size, performed.length, "none twice")
    await everySecondHasItsRun(await aPsql(direct), { schedules: 3, schema })
  })
})
