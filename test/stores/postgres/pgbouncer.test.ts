import assert from "node:assert/strict"
import { createScheduler, defineTask, silentLogger } from "belfry"
import { afterAll, beforeAll, describe, inject, test } from "vitest"
import { freshDatabase } from "../../support/fresh-database.ts"
import { type PgBouncer, startPgBouncer } from "../../support/pgbouncer.ts"
import { proveLaws } from "./schema-lab.ts"
import { aPsql, aStore, atTheEnd, until } from "./scratch.ts"
import { assertRunEverySecond } from "./seconds.ts"

/** Behind a pooler in transaction mode: there is no session, so LISTEN does not work. */

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

  // In one database, because the pooler opens its own connections for each database.
  proveLaws({ where: "behind PgBouncer", url: () => url })

  test("schedules fire and runs are performed without hints", async () => {
    const performed: string[] = []
    const tick = defineTask({ name: "tick", run: ({ run }) => void performed.push(run.id) })
    const options = { tasks: [tick], pollInterval: "200ms", logger: silentLogger } as const
    const schedules = ["a", "b", "c"].map((id) =>
      tick.schedule(id, { cron: "* * * * * *", overlap: "allow", catchUp: "all" }),
    )
    const schema = "scheduler"
    // One fires, the other performs. The second finds the work of the first only by polling.
    const firing = createScheduler({ ...options, store: aStore(url, { schema }), schedules })
    const working = createScheduler({ ...options, store: aStore(url, { schema }) })
    atTheEnd(() => Promise.all([firing.stop(), working.stop()]))
    await firing.start({ roles: ["fire"] })
    await working.start({ roles: ["work"] })

    await until(() => performed.length >= 6, "six runs are performed")
    const { runId } = await firing.enqueue(tick)
    await until(() => performed.includes(runId), "the enqueued run is performed")
    await Promise.all([firing.stop(), working.stop()])

    assert.equal(new Set(performed).size, performed.length, "no run is performed twice")
    await assertRunEverySecond(await aPsql(direct), { schedules: 3, schema })
  })
})
