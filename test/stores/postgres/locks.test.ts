import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { createScheduler, defineTask, silentLogger } from "belfry"
import type { PostgresStore } from "belfry/postgres"
import type pg from "pg"
import { beforeEach, describe, test } from "vitest"
import * as z from "zod"
import { succeed } from "../../../src/core/run/run.ts"
import {
  aClaim,
  aHeartbeat,
  aPlan,
  aPruning,
  aRun,
  aRunOf,
  aSchedule,
  heldRun,
  LONG_MS,
  SHORT_MS,
} from "../../../src/store/laws/factories.ts"
import { created, enqueued, runById, running } from "../../../src/store/laws/steps.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { ManualClock } from "./manual-clock.ts"
import { anOpenStore, aPsql, atTheEnd, until, waitersForLocks } from "./scratch.ts"
import { assertRunEverySecond } from "./seconds.ts"

/** Another program's transaction locks rows for a long time. Only these rows are late. */

const OUTPUT = { message: null, details: null }

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

describe("a schedule whose row is locked", () => {
  test("does not delay others that fire, and fires when the lock is released", async () => {
    const now = await store.now()
    const held = await created(store, aSchedule({ id: "held", nextRunAt: now }))
    const free = await created(store, aSchedule({ id: "free", nextRunAt: now }))
    const plans = [held, free].map((schedule) => aPlan(schedule, { runs: [aRunOf(schedule.id)] }))
    await other.query("select from belfry.schedules where id = 'held' for update")
    // A statement that waited for the row would wait forever.
    await psql.query("alter function belfry.fire set lock_timeout = 0")

    const [first, second] = await store.fire(plans)
    await other.query("rollback")
    const [third] = await store.fire(plans.slice(0, 1))

    assert.deepEqual([first!.outcome, second!.outcome, third!.outcome], ["stale", "done", "done"])
  })

  test("does not delay others if instead its live key is being taken by an open transaction", async () => {
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
    await shortenLockTimeout("fire")

    const answers = await store.fire(plans)

    assert.equal(answers[1]!.outcome, "done")
    assert.notEqual(answers[0]!.outcome, "done")
    await other.query("rollback")
    assert.equal((await store.fire(plans.slice(0, 1)))[0]!.outcome, "done")
  })

  test("is the only one that does not fire, and gets a run for every second when the lock is released", async () => {
    const performed: string[] = []
    const tick = defineTask({ name: "tick", run: ({ run }) => void performed.push(run.id) })
    const options = { cron: "* * * * * *", catchUp: "all", overlap: "allow" } as const
    const ids = ["held", "first", "second"]
    const scheduler = createScheduler({
      store,
      tasks: [tick],
      schedules: ids.map((id) => tick.schedule(id, options)),
      pollInterval: "1s",
      logger: silentLogger,
    })
    const performedOf = (id: string, from = 0) =>
      performed.slice(from).filter((runId) => runId.startsWith(id)).length
    await scheduler.start()
    atTheEnd(() => scheduler.stop())
    await until(() => ids.every((id) => performedOf(id) > 0))

    await other.query("select from belfry.schedules where id = 'held' for update")
    const [from, heldBefore] = [performed.length, await runsOf("held")]
    await until(() => performedOf("first", from) >= 2 && performedOf("second", from) >= 2)
    const heldAfter = await runsOf("held")
    await other.query("rollback")
    await until(() => performedOf("held", from) >= 2)
    await scheduler.stop()

    assert.equal(heldAfter, heldBefore)
    await assertRunEverySecond(psql, { schedules: ids.length })
  })
})

describe("a run whose row is locked", () => {
  test("is skipped by claims, and claimed when the lock is released", async () => {
    const [held, free] = [await enqueued(store, aRun()), await enqueued(store, aRun())]
    await hold(held.id)

    // A statement that waited for the row would wait forever.
    const first = await store.claim(aClaim())
    await other.query("rollback")
    const second = await store.claim(aClaim())

    assert.deepEqual(
      [first, second].map(({ runs }) => runs.map(({ id }) => id)),
      [[free.id], [held.id]],
    )
  })

  test("does not stop its worker from extending the leases of other runs", async () => {
    const [held, free] = [await enqueued(store, aRun()), await enqueued(store, aRun())]
    const short = { tasks: [{ name: "report", leaseMs: SHORT_MS }] }
    assert.equal((await store.claim(aClaim(short))).runs.length, 2)
    await hold(held.id)

    const holds = [held, free].map(({ id }) => heldRun({ id, attempt: 1 }))
    const { gone } = await store.heartbeat(aHeartbeat({ held: holds }))
    await sleep(2 * SHORT_MS)

    assert.deepEqual(gone, [], "a locked row is not reported as lost: no other worker can claim it meanwhile")
    assert.deepEqual((await store.claim(aClaim({ workerId: "thief" }))).runs, [])
    await other.query("rollback")
    await store.heartbeat(aHeartbeat({ held: holds.slice(0, 1) }))
    assert.ok((await runById(store, held.id)).claimableAt! > (await store.now()) + LONG_MS / 2)
  })

  test("and is cancelled by the locking transaction is reported to its worker as cancelled", async () => {
    const held = await running(store, aRun())
    await other.query("update belfry.runs set state = 'cancelled', claimable_at = null where id = $1", [
      held.id,
    ])

    const beating = store.heartbeat(aHeartbeat({ held: [heldRun(held)] }))
    await other.query("commit")

    // A heartbeat that gave up before the commit does not report it; the next one does.
    const answers = [await beating, await store.heartbeat(aHeartbeat({ held: [heldRun(held)] }))]
    assert.deepEqual(answers.find(({ gone }) => gone.length > 0)?.gone, [
      { runId: held.id, attempt: 1, why: "cancelled" },
    ])
  })

  test("does not stop the ends of other runs from being stored", async () => {
    const [held, free] = [await running(store, aRun()), await running(store, aRun())]
    await hold(held.id)
    await shortenLockTimeout("change")

    await store.transition([held, free].map((run) => succeed(run, OUTPUT))).catch(() => undefined)

    assert.equal((await runById(store, free.id)).state, "succeeded")
    await other.query("rollback")
    await store.transition([held, free].map((run) => succeed(run, OUTPUT)))
    assert.equal((await runById(store, held.id)).state, "succeeded")
  })

  test("is skipped by pruning, and deleted by the next pruning", async () => {
    const [held, free] = [await running(store, aRun()), await running(store, aRun())]
    await store.transition([held, free].map((run) => succeed(run, OUTPUT)))
    await sleep(20)
    await hold(held.id)

    // A statement that waited for the row would wait forever.
    const pruning = aPruning({ olderThanMs: 1 })
    const first = await store.prune(pruning)
    await other.query("rollback")
    const second = await store.prune(pruning)

    assert.deepEqual([first.runs, second.runs], [1, 1])
  })

  test("leaves no statement on the server that waits for it", async () => {
    const held = await running(store, aRun())
    await hold(held.id)
    await shortenLockTimeout("change")

    for (let times = 0; times < 3; times++)
      await store.transition([succeed(held, OUTPUT)]).catch(() => undefined)

    assert.equal(await waitersForLocks(psql), 0)
  })
})

test("a worker loses no run when a run is completed in a transaction that stays open during a heartbeat", async () => {
  const clock = new ManualClock()
  let isCompleted = false
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const work = defineTask({
    name: "work",
    payload: z.any(),
    lease: "1h",
    async run({ payload, complete }) {
      if (payload === "waits") return ended
      await other.query("insert into orders values ('o1')")
      await complete(other)
      isCompleted = true
      await ended
      await other.query("commit")
    },
  })
  await psql.query("create table orders (id text)")
  const scheduler = createScheduler({ store, tasks: [work], clock, logger: silentLogger })
  await scheduler.start()
  atTheEnd(() => scheduler.stop())
  const ids = await Promise.all(
    ["completes", "waits"].map(
      async (payload) => (await scheduler.enqueue(work, { payload: payload })).runId,
    ),
  )
  const leaseEndsAt = async () => (await runById(store, ids[1]!)).claimableAt ?? 0
  await until(async () => isCompleted && (await runById(store, ids[1]!)).state === "running")
  const before = await leaseEndsAt()

  clock.advance(20 * 60_000)
  await until(async () => (await leaseEndsAt()) > before, "the lease of the other run is extended")
  end()

  const runs = await Promise.all(ids.map((id) => scheduler.runs.wait(id, { timeout: "1h" })))
  assert.deepEqual(
    runs.map((run) => [run!.state, run!.attempt, run!.attempts.map(({ outcome }) => outcome)]),
    [
      ["succeeded", 1, ["succeeded"]],
      ["succeeded", 1, ["succeeded"]],
    ],
  )
  assert.equal((await psql.query("select from orders")).rowCount, 1)
})

async function runsOf(scheduleId: string): Promise<number> {
  const { rowCount } = await psql.query("select from belfry.runs where schedule_id = $1", [scheduleId])
  return rowCount!
}

/** Makes the function give up waiting for a lock after 50 ms. */
async function shortenLockTimeout(name: string): Promise<void> {
  await psql.query(`alter function belfry.${name} set lock_timeout = '50ms'`)
}

async function hold(runId: string): Promise<void> {
  await other.query("select from belfry.runs where id = $1 for update", [runId])
}
