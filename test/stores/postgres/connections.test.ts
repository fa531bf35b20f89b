import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { createScheduler, defineTask, silentLogger } from "belfry"
import { type Pool, postgres } from "belfry/postgres"
import pg from "pg"
import { beforeEach, test } from "vitest"
import { aClaim, aHeartbeat } from "../../../src/store/laws/factories.ts"
import { several } from "../../../src/store/laws/steps.ts"
import { freshDatabase } from "../../support/fresh-database.ts"
import { anOpenStore, aPsql, atTheEnd, connectionsTo, until } from "./scratch.ts"

/** Whose connections there are, and that those who use them up harm nobody else. */

let url: string
let pool: pg.Pool

beforeEach(async () => {
  url = await freshDatabase()
  pool = new pg.Pool({ connectionString: url, max: 2, application_name: "belfry" })
  atTheEnd(() => pool.end())
})

/** What a pool of another make shows: no way to make a connection beside it. */
const wrapped = (): Pool => ({
  connect: () => pool.connect(),
  end: () => pool.end(),
  on: (event, listener) => pool.on(event, listener),
  off: (event, listener) => pool.off(event, listener),
})

test.each([
  ["both connections of the user's pool", () => pool as unknown as Pool, 2],
  ["all but the one that a wrapped pool has lent for good", wrapped, 1],
])("tasks that hold %s for longer than their lease are not lost", async (_, poolOf, tasks) => {
  const errors: unknown[] = []
  const hog = defineTask({
    name: "hog",
    lease: "600ms",
    async run() {
      const client = await pool.connect()
      await sleep(1_800)
      client.release()
    },
  })
  const scheduler = createScheduler({
    store: postgres({ pool: poolOf() }),
    tasks: [hog],
    pollInterval: "300ms",
    hooks: { error: (error, where) => void (where === "heartbeat" && errors.push(error)) },
    logger: silentLogger,
  })
  const ids = await Promise.all(several(tasks, async () => (await scheduler.enqueue(hog)).runId))
  await scheduler.start()
  atTheEnd(() => scheduler.stop())

  const runs = await Promise.all(ids.map((id) => scheduler.runs.wait(id, { timeout: "15s" })))

  assert.deepEqual(errors, [], "the heart beats over a connection of its own")
  assert.deepEqual(
    runs.map((run) => [run!.state, run!.attempt]),
    ids.map(() => ["succeeded", 1]),
  )
})

test("a store has no more connections than it was given, and one to listen and beat with", async () => {
  const psql = await aPsql(url)
  const store = await anOpenStore(url, { connections: 3 })
  await store.listen(() => undefined)

  await Promise.all(several(50, () => store.claim(aClaim())))
  await Promise.all(several(5, () => store.heartbeat(aHeartbeat())))

  assert.equal(await connectionsTo(psql), 4)
  await store.close()
  await until(async () => (await connectionsTo(psql)) === 0, "all are given back")
})

test("a pool that was brought along stays open, with none of its connections in use", async () => {
  const store = postgres({ pool: pool as unknown as Pool })
  await store.open()
  await store.listen(() => undefined)
  await store.heartbeat(aHeartbeat())

  await store.close()

  assert.equal((await pool.query("select 1")).rowCount, 1)
  assert.deepEqual([pool.totalCount - pool.idleCount, pool.waitingCount], [0, 0])
  assert.equal(pool.listenerCount("error"), 0, "what it says is for its owner again")
  await until(async () => (await connectionsTo(await aPsql(url))) <= 2, "the one beside it has gone")
})
