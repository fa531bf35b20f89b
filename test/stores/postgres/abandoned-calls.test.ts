import assert from "node:assert/strict"
import { setImmediate } from "node:timers/promises"
import { createScheduler, defineTask, silentLogger } from "belfry"
import type { PostgresStore } from "belfry/postgres"
import pg from "pg"
import { afterAll, beforeAll, beforeEach, describe, inject, test } from "vitest"
import { succeed } from "../../../src/core/run/run.ts"
import { aClaim, aHeartbeat, aPlan, aRun, aSchedule, LONG_MS } from "../../../src/store/laws/factories.ts"
import { created, runById, running, several } from "../../../src/store/laws/steps.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { type PgBouncer, startPgBouncer } from "../../support/pgbouncer.ts"
import { ManualClock } from "./manual-clock.ts"
import { raiseLockTimeouts } from "./schema-lab.ts"
import {
  anOpenStore,
  aPsql,
  aStoreOn,
  atTheEnd,
  connectionsTo,
  rejectsWith,
  until,
  waitersForLocks,
} from "./scratch.ts"
import { collectStatements } from "./statement-count.ts"
import { CALLS } from "./store-calls.ts"
import { wrapped } from "./wrapped-pool.ts"

/**
 * Another program locks Belfry's tables, like `vacuum full` and `alter table`. Calls fail by their deadline, and leave neither a
 * waiting statement nor a connection on the server. The tests advance the clock to the deadlines.
 */

const DEADLINE_MS = 3_600_000
/** One connection for each call, so that no call waits for one. */
const CONNECTIONS = 25
const TABLES = ["schedules", "runs", "logs", "workers", "documents", "journal", "statistics"]
  .map((table) => `belfry.${table}`)
  .join(", ")

/** All calls that read or write a table. */
const { now: _, ...OTHERS } = CALLS
const ON_TABLES = Object.values(OTHERS)

let url: string
let psql: pg.Client
let locker: pg.Client
let clock: ManualClock

beforeEach(async () => {
  url = await migratedDatabase()
  psql = await aPsql(url)
  locker = await aPsql(url)
  clock = new ManualClock()
})

describe("calls that time out leave nothing on the server:", () => {
  let bouncer: PgBouncer

  beforeAll(async () => {
    bouncer = await startPgBouncer(inject("postgres"), { poolSize: CONNECTIONS + 5 })
  })
  afterAll(() => bouncer?.stop())

  const POOLS: readonly (readonly [string, () => Promise<PostgresStore>])[] = [
    ["on Belfry's own pool", () => anOpenStore(url, options())],
    ["behind PgBouncer", () => anOpenStore(bouncer.through(url), options())],
    ["on a user's pool", () => onPoolOf((pool) => pool)],
    ["on a pool of another driver", () => onPoolOf(wrapped)],
  ]

  test.each(POOLS)("%s", async (_pool, open) => {
    const store = await open()
    // Only the deadline ends a wait here, because the lock timeouts of the server are raised.
    await psql.query(raiseLockTimeouts("belfry"))
    await lockTables()

    for (let times = 0; times < 2; times++) {
      await failByDeadline(ON_TABLES.map((call) => () => call(store)))
      await until(async () => (await waitersForLocks(psql)) === 0, "no statement waits for a lock")
    }

    assert.equal(await runningStatements(), 0)
    await until(async () => (await connectionsTo(psql)) <= CONNECTIONS + 1, "no connection is left over")
    await locker.query("rollback")
    for (const call of ON_TABLES) await call(store)
  })

  test("in a user's transaction, which gets an error and can be rolled back", async () => {
    const pool = aPool()
    const store = aStoreOn(pool, options())
    await store.open()
    const client = await pool.connect()
    await client.query("begin")
    await lockTables()

    const putting = store.within(client).putSchedule(aSchedule(), null)
    const failing = rejectsWith("BELFRY_STORE_UNAVAILABLE", putting, /did not answer within/)
    await until(async () => (await waitersForLocks(psql)) === 1)
    clock.advance(DEADLINE_MS)
    await failing
    await client.query("rollback")

    assert.equal(await waitersForLocks(psql), 0)
    assert.equal((await client.query("select 1 as one")).rows[0].one, 1, "its connection is usable")
    client.release()
  })

  test("when a store is closed while a heartbeat waits", async () => {
    const store = await anOpenStore(url, options())
    await lockTables()
    const beating = rejectsWith("BELFRY_STORE_UNAVAILABLE", store.heartbeat(aHeartbeat()))
    await until(async () => (await waitersForLocks(psql)) === 1)

    await store.close()

    await until(async () => (await connectionsTo(psql)) === 0, "its connections are closed")
    await beating
  })
})

test("every function of the engine gives up waiting for a lock before its caller's deadline", async () => {
  const { rows } = await psql.query(`
    select proname as name, extract(epoch from substring(setting, 'lock_timeout=(.*)')::interval)::float8 as seconds
    from pg_proc
    left join lateral unnest(proconfig) as setting on setting like 'lock_timeout=%'
    where pronamespace = 'belfry'::regnamespace
      and proname in ('add', 'change', 'claim', 'due', 'extend', 'fire', 'prune', 'acquire_lock')`)

  assert.equal(rows.length, 8)
  for (const { name, seconds } of rows) assert.ok(seconds > 0 && seconds < 5, `${name}: ${seconds} s`)
})

test("several plans or changes fail together while a table is locked, not one by one", async () => {
  const store = await anOpenStore(url, options())
  const schedules = await Promise.all(several(3, () => created(store, aSchedule())))
  const runs = [await running(store, aRun()), await running(store, aRun())]
  await locker.query("begin")
  await locker.query("lock table belfry.runs in access exclusive mode")
  const statements = collectStatements([psql, locker])

  const plans = schedules.map((schedule) => aPlan(schedule, { runs: [aRun()] }))
  await rejectsWith("BELFRY_STORE_UNAVAILABLE", store.fire(plans), /holds a lock/)
  await rejectsWith("BELFRY_STORE_UNAVAILABLE", store.fire(plans.slice(0, 1)), /holds a lock/)
  const ends = runs.map((run) => succeed(run, { message: null, details: null }))
  await rejectsWith("BELFRY_STORE_UNAVAILABLE", store.transition(ends), /holds a lock/)

  // Hints of earlier calls may still be sent.
  const sent = statements.filter((statement) => statement !== "pg_notify")
  const once = ["belfry.fire", "belfry.fire"]
  assert.deepEqual(sent, [...once, ...once, "belfry.change", "belfry.change"])
})

describe("a run that waited for a locked table", () => {
  test.each(["access exclusive", "share"])("is claimed with a full lease (%s)", async (mode) => {
    const store = await anOpenStore(url, options())
    await psql.query(raiseLockTimeouts("belfry"))
    await store.enqueue([aRun()])
    await locker.query("begin")
    await locker.query(`lock table belfry.runs in ${mode} mode`)
    const claiming = store.claim(aClaim())
    await until(async () => (await waitersForLocks(psql)) === 1)

    const lockedUntil = await store.now()
    await locker.query("commit")
    const { runs, now } = await claiming

    assert.ok(now >= lockedUntil, "the clock was read after the wait")
    assert.equal(runs[0]!.claimableAt, now + LONG_MS)
    assert.equal((await runById(store, runs[0]!.id)).claimableAt, runs[0]!.claimableAt)
  })

  test("is stored with its full delay", async () => {
    const store = await anOpenStore(url, options())
    await psql.query(raiseLockTimeouts("belfry"))
    await locker.query("begin")
    await locker.query("lock table belfry.runs in access exclusive mode")
    const run = aRun({ delayMs: 1_000 })
    const enqueuing = store.enqueue([run])
    await until(async () => (await waitersForLocks(psql)) === 1)

    const lockedUntil = await store.now()
    await locker.query("commit")
    await enqueuing

    assert.ok((await runById(store, run.id)).claimableAt! >= lockedUntil + 1_000)
  })

  test("is performed once, as attempt 1, after many claims timed out", async () => {
    const store = await anOpenStore(url, options())
    const performed: number[] = []
    const task = defineTask({ name: "report", run: ({ run }) => void performed.push(run.attempt) })
    await psql.query(raiseLockTimeouts("belfry"))
    await store.enqueue(several(5, () => aRun()))
    await lockTables()
    for (let times = 0; times < 4; times++) {
      await failByDeadline(several(3, () => () => store.claim(aClaim())))
    }
    await until(async () => (await waitersForLocks(psql)) === 0)

    await locker.query("rollback")
    const scheduler = createScheduler({ store, tasks: [task], logger: silentLogger })
    atTheEnd(() => scheduler.stop())
    await scheduler.start()

    await until(() => performed.length >= 5, "all are performed")
    assert.deepEqual(performed, [1, 1, 1, 1, 1])
  })
})

const options = () => ({ deadlineMs: DEADLINE_MS, connections: CONNECTIONS, clock })

function aPool(): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS, application_name: "belfry" })
  pool.on("error", () => undefined)
  atTheEnd(() => pool.end())
  return pool
}

async function onPoolOf(make: (pool: pg.Pool) => Parameters<typeof aStoreOn>[0]): Promise<PostgresStore> {
  const store = aStoreOn(make(aPool()), options())
  await store.open()
  return store
}

async function lockTables(): Promise<void> {
  await locker.query("begin")
  await locker.query(`lock table ${TABLES} in access exclusive mode`)
}

/** Starts all calls, waits until each waits for a lock, and advances the clock to the deadline. */
async function failByDeadline(calls: readonly (() => Promise<unknown>)[]): Promise<void> {
  const words = /did not answer within 3600 s\./
  const failing = Promise.all(calls.map((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(), words)))
  await until(async () => (await waitersForLocks(psql)) === calls.length, "all of them wait for a lock")
  await setImmediate()

  clock.advance(DEADLINE_MS)

  await failing
}

/** Running statements, without the test's own. */
async function runningStatements(): Promise<number> {
  const { rows } = await psql.query(
    `select count(*)::int as count
    from pg_stat_activity
    where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`,
  )
  return rows[0].count
}
