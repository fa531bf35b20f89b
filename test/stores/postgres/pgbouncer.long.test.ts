import assert from "node:assert/strict"
import { createScheduler, defineTask, silentLogger } from "belfry"
import { inject, test } from "vitest"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { startPgBouncer } from "../../support/pgbouncer.ts"
import { aStore, atTheEnd, until } from "./scratch.ts"

test("behind PgBouncer, schedules fire and runs are performed on time, of which no hint was heard", async () => {
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
  // One fires, the other performs: what the first has done, the second only learns by looking.
  const firing = createScheduler({ ...options, store: aStore(url), schedules })
  const working = createScheduler({ ...options, store: aStore(url) })
  atTheEnd(() => Promise.all([firing.stop(), working.stop()]))
  await working.start({ roles: ["work"] })
  await firing.start({ roles: ["fire"] })

  await until(() => lateMs.length >= 30, "thirty are performed")

  assert.ok(Math.max(...lateMs) < 500 + 1_500, `a poll, and a second and a half: ${lateMs}`)
})
