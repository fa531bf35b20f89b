import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { createScheduler, defineTask, silentLogger } from "belfry"
import type { Pool } from "belfry/postgres"
import pg from "pg"
import { beforeEach, test } from "vitest"
import { several } from "../../../src/store/laws/steps.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { aStoreOn, atTheEnd } from "./scratch.ts"
import { wrapped } from "./wrapped-pool.ts"

let pool: pg.Pool

beforeEach(async () => {
  pool = new pg.Pool({ connectionString: await migratedDatabase(), max: 2 })
  atTheEnd(() => pool.end())
})

test.each([
  ["both connections of the user's pool", () => pool as unknown as Pool, 2],
  ["all connections of a wrapped pool but the one that the store keeps", () => wrapped(pool), 1],
])("tasks that hold %s for longer than their lease are not lost", async (_, poolOf, tasks) => {
  const errors: unknown[] = []
  const hog = defineTask({
    name: "hog",
    lease: "3s",
    async run() {
      const client = await pool.connect()
      await sleep(9_000)
      client.release()
    },
  })
  const scheduler = createScheduler({
    store: aStoreOn(poolOf()),
    tasks: [hog],
    pollInterval: "300ms",
    hooks: { error: (error, where) => void (where === "heartbeat" && errors.push(error)) },
    logger: silentLogger,
  })
  const ids = await Promise.all(several(tasks, async () => (await scheduler.enqueue(hog)).runId))
  await scheduler.start()
  atTheEnd(() => scheduler.stop())

  const runs = await Promise.all(ids.map((id) => scheduler.runs.wait(id, { timeout: "1m" })))

  assert.deepEqual(errors, [], "heartbeats have their own connection")
  assert.deepEqual(
    runs.map((run) => [run!.state, run!.attempt]),
    ids.map(() => ["succeeded", 1]),
  )
})
