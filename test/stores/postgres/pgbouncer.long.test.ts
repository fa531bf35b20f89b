import assert from "node:assert/strict"
import { createScheduler, defineTask, silentLogger } from "belfry"
import { inject, test } from "vitest"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { startPgBouncer } from "../../support/pgbouncer.ts"
import { aStore, atTheEnd, until } from "./scratch.ts"

test("behind PgBouncer, schedules fire and runs are performed on time without hints", async () => {
  const bouncer = await startPgBouncer(inject("postgres"), { poolSize: 8 })
  atTheEnd(() => bouncer.stop())
  const url = bouncer.through(await migratedDatabase())
  const lateMs: number[] = []
  const tick = defineTask({
    name: "tick",
    run: ({ run }) => void lateMs.push(Date.now() - run.scheduledFor!.getTime()),
  })
  const options = { tasks: [tick], pollInterval: "500ms", logger: silentLogger } as const
  const schedules = ["a", "b", "c"].map((id) => tick.schedule(id, { cron: "* * * * * *", overlap: "allow" }))
  // One fires, the other performs. The second finds the work of the first only by polling.
  const firing = createScheduler({ ...options, store: aStore(url), schedules })
  const working = createScheduler({ ...options, store: aStore(url) })
  atTheEnd(() => Promise.all([firing.stop(), working.stop()]))
  await working.start({ roles: ["work"] })
  await firing.start({ roles: ["fire"] })

  await until(() => lateMs.length >= 30, "thirty runs are performed")

  assert.ok(Math.max(...lateMs) < 500 + 1_500, `later than a poll and 1.5 s: ${lateMs}`)
})
