import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { createScheduler, defineTask, silentLogger } from "belfry"
import type { PostgresStore } from "belfry/postgres"
import type pg from "pg"
import { beforeEach, test } from "vitest"
import * as z from "zod"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { anOpenStore, aPsql, atTheEnd, until } from "./scratch.ts"
import { assertRunEverySecond } from "./seconds.ts"

/** In real time: how much another program's transaction delays other schedules, and leases that end while it is open. */

/** For runs that wait for nothing, on a busy machine. */
const LATE_MAX_MS = 1_500

let store: PostgresStore
let psql: pg.Client
let other: pg.Client

beforeEach(async () => {
  const url = await migratedDatabase()
  store = await anOpenStore(url)
  psql = await aPsql(url)
  other = await aPsql(url)
  await other.query("begin")
})

test("only a schedule whose row is locked is late", async () => {
  const performed: { id: string; at: number }[] = []
  const tick = defineTask({
    name: "tick",
    run: ({ run }) => void performed.push({ id: run.id, at: Date.now() }),
  })
  const options = { cron: "* * * * * *", catchUp: "all", overlap: "allow" } as const
  const scheduler = createScheduler({
    store,
    tasks: [tick],
    schedules: ["held", "first", "second", "third"].map((id) => tick.schedule(id, options)),
    pollInterval: "1s",
    logger: silentLogger,
  })
  await scheduler.start()
  atTheEnd(() => scheduler.stop())
  await until(() => performed.length >= 4)

  await other.query("select from belfry.schedules where id = 'held' for update")
  const from = performed.length
  await sleep(5_200)
  const meanwhile = performed.slice(from)
  await other.query("rollback")
  await until(() => performed.slice(from).filter(({ id }) => id.startsWith("held")).length >= 2)
  await scheduler.stop()

  assert.ok(meanwhile.filter(({ id }) => !id.startsWith("held")).length >= 9)
  assert.ok(
    meanwhile.filter(({ id }) => id.startsWith("held")).length <= 1,
    "one may have been started before",
  )
  const lateMs = meanwhile.map(({ id, at }) => at - Date.parse(id.split("@")[1]!))
  assert.ok(Math.max(...lateMs) < LATE_MAX_MS, `${lateMs}`)
  await assertRunEverySecond(psql, { schedules: 4 })
})

test("a worker loses no run when a run is completed in a transaction that stays open longer than the lease", async () => {
  const work = defineTask({
    name: "work",
    payload: z.any(),
    lease: "3s",
    async run({ payload, complete }) {
      if (!(payload as { completes: boolean }).completes) return sleep(5_000)
      await other.query("insert into orders values ('o1')")
      await complete(other)
      await sleep(5_000)
      await other.query("commit")
    },
  })
  await psql.query("create table orders (id text)")
  const scheduler = createScheduler({ store, tasks: [work], pollInterval: "200ms", logger: silentLogger })
  await scheduler.start()
  atTheEnd(() => scheduler.stop())

  const ids = await Promise.all(
    [true, false].map(async (completes) => (await scheduler.enqueue(work, { payload: { completes } })).runId),
  )
  const runs = await Promise.all(ids.map((id) => scheduler.runs.wait(id, { timeout: "1m" })))

  assert.deepEqual(
    runs.map((run) => [run!.state, run!.attempt, run!.attempts.map(({ outcome }) => outcome)]),
    [
      ["succeeded", 1, ["succeeded"]],
      ["succeeded", 1, ["succeeded"]],
    ],
  )
  assert.equal((await psql.query("select from orders")).rowCount, 1)
})
