import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { createScheduler, defineTask, silentLogger } from "belfry"
import type { PostgresStore } from "belfry/postgres"
import type pg from "pg"
import { beforeEach, describe, test } from "vitest"
import { succeed } from "../../../src/core/run.ts"
import {
  aClaim,
  aHeartbeat,
  aPlan,
  aPruning,
  aRun,
  aRunOf,
  aSchedule,
  heldRun,
} from "../../../src/store/laws/factories.ts"
import { created, enqueued, runById, running } from "../../../src/store/laws/steps.ts"
import { freshDatabase } from "../../support/fresh-database.ts"
import { anOpenStore, aPsql, atTheEnd, until } from "./scratch.ts"

/** Somebody else's transaction holds what we need, and takes its time: only what it holds is late. */

const OUTPUT = { message: null, details: null }
/** Where nobody waits. */
const AT_ONCE_MS = 400

let url: string
let store: PostgresStore
let psql: pg.Client
let other: pg.Client

beforeEach(async () => {
  url = await freshDatabase()
  store = await anOpenStore(url, { deadlineMs: 1_200 })
  psql = await aPsql(url)
  other = await aPsql(url)
  await other.query("begin")
})

describe("a schedule that is held", () => {
  test("doesn't keep the others from firing, and fires when it is let go", async () => {
    const now = await store.now()
    const held = await created(store, aSchedule({ id: "held", nextRunAt: now }))
    const free = await created(store, aSchedule({ id: "free", nextRunAt: now }))
    const plans = [held, free].map((schedule) => aPlan(schedule, { runs: [aRunOf(schedule.id)] }))
    await other.query("select from belfry.schedules where id = 'held' for update")

    const [first, second] = await atOnce(() => store.fire(plans))
    await other.query("rollback")
    const [third] = await store.fire(plans.slice(0, 1))

    assert.deepEqual([first!.outcome, second!.outcome, third!.outcome], ["stale", "done", "done"])
  })

  test("whose live key is being taken by an open transaction doesn't keep the others either", async () => {
    const now = await store.now()
    const schedules = [
      await created(store, aSchedule({ id: "held", nextRunAt: now })),
      await created(store, aSchedule({ id: "free", nextRunAt: now })),
    ]
    const plans = schedules.map((schedule) =>
      aPlan(schedule, { runs: [aRunOf(schedule.id, { liveKey: `schedule:${schedule.id}` })] }),
    )
    await other.query(
      "insert into belfry.runs (id, task, triggered_by, live_key, state) values ('x', 'report', 'api', 'schedule:held', 'pending')",
    )

    const answers = await store.fire(plans)

    assert.equal(answers[1]!.outcome, "done")
    assert.notEqual(answers[0]!.outcome, "done")
    await other.query("rollback")
    assert.equal((await store.fire(plans.slice(0, 1)))[0]!.outcome, "done")
  })

  test("is the only one that is late", { timeout: 20_000 }, async () => {
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
    await sleep(2_200)
    const meanwhile = performed.slice(from)
    await other.query("rollback")
    await until(() => performed.slice(from).filter(({ id }) => id.startsWith("held")).length >= 2)
    await scheduler.stop()

    assert.ok(meanwhile.filter(({ id }) => !id.startsWith("held")).length >= 6)
    assert.ok(meanwhile.filter(({ id }) => id.startsWith("held")).length <= 1, "one may have been under way")
    const lateMs = meanwhile.map(({ id, at }) => at - Date.parse(id.split("@")[1]!))
    assert.ok(Math.max(...lateMs) < 1_000, `${lateMs}`)
    await everySecondHasItsRun()
  })
})

describe("a run that is held", () => {
  test("is passed over by claims, and given when it is let go", async () => {
    const [held, free] = [await enqueued(store, aRun()), await enqueued(store, aRun())]
    await hold(held.id)

    const first = await atOnce(() => store.claim(aClaim()))
    await other.query("rollback")
    const second = await store.claim(aClaim())

    assert.deepEqual(
      [first, second].map(({ runs }) => runs.map(({ id }) => id)),
      [[free.id], [held.id]],
    )
  })

  test("doesn't cost its worker the others: their leases are extended", async () => {
    const held = await running(store, aRun(), { tasks: [{ name: "report", leaseMs: 500 }] })
    const free = await running(store, aRun(), { tasks: [{ name: "report", leaseMs: 500 }] })
    await hold(held.id)

    const holds = [held, free].map((run) => heldRun(run, { leaseMs: 10_000 }))
    const { gone } = await store.heartbeat(aHeartbeat({ held: holds }))
    await sleep(600)

    assert.deepEqual(gone, [], "whoever holds the row hasn't taken the run: nobody can, meanwhile")
    assert.deepEqual((await store.claim(aClaim({ workerId: "thief" }))).runs, [])
    await other.query("rollback")
    await store.heartbeat(aHeartbeat({ held: holds.slice(0, 1) }))
    assert.ok((await runById(store, held.id)).claimableAt! > (await store.now()) + 5_000)
  })

  test("that was cancelled by the one who held it is gone for its worker", async () => {
    const held = await running(store, aRun())
    await other.query("update belfry.runs set state = 'cancelled', claimable_at = null where id = $1", [
      held.id,
    ])

    const beating = store.heartbeat(aHeartbeat({ held: [heldRun(held)] }))
    await sleep(50)
    await other.query("commit")

    assert.deepEqual((await beating).gone, [{ runId: held.id, attempt: 1, why: "cancelled" }])
  })

  test("doesn't keep the ends of the others from being stored", async () => {
    const [held, free] = [await running(store, aRun()), await running(store, aRun())]
    await hold(held.id)

    await store.transition([held, free].map((run) => succeed(run, OUTPUT))).catch(() => undefined)

    assert.equal((await runById(store, free.id)).state, "succeeded")
    await other.query("rollback")
    await store.transition([held, free].map((run) => succeed(run, OUTPUT)))
    assert.equal((await runById(store, held.id)).state, "succeeded")
  })

  test("is left to the next pruning, which deletes the others", async () => {
    const [held, free] = [await running(store, aRun()), await running(store, aRun())]
    await store.transition([held, free].map((run) => succeed(run, OUTPUT)))
    await sleep(20)
    await hold(held.id)

    const pruning = aPruning({ olderThanMs: 1 })
    const first = await atOnce(() => store.prune(pruning))
    await other.query("rollback")
    const second = await store.prune(pruning)

    assert.deepEqual([first.runs, second.runs], [1, 1])
  })

  test("leaves nobody behind on the server who still waits for it", async () => {
    const held = await running(store, aRun())
    await hold(held.id)

    for (let times = 0; times < 3; times++)
      await store.transition([succeed(held, OUTPUT)]).catch(() => undefined)

    const { rows } = await psql.query(
      "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
    assert.equal(rows[0].count, 0)
  })
})

test("a run that is completed in a transaction which stays open for longer than the lease costs its worker nothing", async () => {
  const work = defineTask<unknown, unknown>({
    name: "work",
    lease: "1s",
    async run({ payload, complete }) {
      if (!(payload as { completes: boolean }).completes) return sleep(1_800)
      await other.query("insert into orders values ('o1')")
      await complete(other)
      await sleep(1_800)
      await other.query("commit")
    },
  })
  await psql.query("create table orders (id text)")
  const scheduler = createScheduler({ store, tasks: [work], pollInterval: "200ms", logger: silentLogger })
  await scheduler.start()
  atTheEnd(() => scheduler.stop())

  const ids = await Promise.all(
    [true, false].map(async (completes) => (await scheduler.enqueue(work, { completes })).runId),
  )
  const runs = await Promise.all(ids.map((id) => scheduler.runs.wait(id, { timeout: "10s" })))

  assert.deepEqual(
    runs.map((run) => [run!.state, run!.attempt, run!.attempts.map(({ outcome }) => outcome)]),
    [
      ["succeeded", 1, ["succeeded"]],
      ["succeeded", 1, ["succeeded"]],
    ],
  )
  assert.equal((await psql.query("select from orders")).rowCount, 1)
})

test("a table that is locked for all writers, as while an index is built, is waited for by the deadline", async () => {
  await other.query("lock table belfry.runs in share mode")

  const began = performance.now()
  await assert.rejects(store.claim(aClaim()), { code: "BELFRY_STORE_UNAVAILABLE" })
  assert.ok(performance.now() - began < 1_600)
  await other.query("rollback")

  assert.deepEqual((await store.claim(aClaim())).runs, [])
})

async function hold(runId: string): Promise<void> {
  await other.query("select from belfry.runs where id = $1 for update", [runId])
}

async function atOnce<T>(call: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const answer = await call()
  const tookMs = performance.now() - began
  assert.ok(tookMs < AT_ONCE_MS, `it took ${tookMs} ms`)
  return answer
}

async function everySecondHasItsRun(): Promise<void> {
  const { rows } = await psql.query(`
    select schedule_id, count(*)::int as runs, count(distinct scheduled_for)::int as instants,
      extract(epoch from max(scheduled_for) - min(scheduled_for))::int + 1 as seconds
    from belfry.runs
    group by schedule_id`)
  assert.equal(rows.length, 4)
  for (const { runs, instants, seconds } of rows) assert.deepEqual([runs, instants], [seconds, seconds])
}
