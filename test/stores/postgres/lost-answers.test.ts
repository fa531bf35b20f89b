import assert from "node:assert/strict"
import type { PostgresStore } from "belfry/postgres"
import type pg from "pg"
import { beforeEach, describe, inject, test } from "vitest"
import { isAlreadyMade, succeed } from "../../../src/core/run/run.ts"
import { progressOf } from "../../../src/core/schedule/schedule.ts"
import {
  aClaim,
  aHeartbeat,
  aLogLine,
  aPlan,
  aRun,
  aRunOf,
  aSchedule,
  heldRun,
  LONG_MS,
} from "../../../src/store/laws/factories.ts"
import { created, deleteSchedule, enqueued, runById, running } from "../../../src/store/laws/steps.ts"
import { versionedName } from "../../../src/stores/postgres/schema/engine-function.ts"
import { type FaultProxy, faultProxy } from "../../support/fault-proxy.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { anOpenStore, aPsql, aStore, atTheEnd, rejectsWith, until } from "./scratch.ts"
import { assertRunEverySecond, stopWhenDone, tickingScheduler } from "./seconds.ts"

/**
 * The server performs a call and its answer is lost, so the caller cannot know the result. A repeated call has no second
 * effect.
 */

const TIMES = 5
const OUTPUT = { message: "Sent", details: { pages: 3 } }

let proxy: FaultProxy
let url: string
let store: PostgresStore
let psql: pg.Client

beforeEach(async () => {
  proxy = await faultProxy(inject("postgres").port)
  atTheEnd(() => proxy.close())
  url = await migratedDatabase()
  store = await anOpenStore(proxy.through(url))
  psql = await aPsql(url)
})

describe(`the answer is lost, ${TIMES} times:`, () => {
  test("a fire advances its schedule and creates its run once", async () => {
    for (let times = 0; times < TIMES; times++) {
      const schedule = await created(store, aSchedule({ nextRunAt: await store.now() }))
      const run = aRunOf(schedule.id, { liveKey: schedule.id })
      const plan = aPlan(schedule, { progress: { ...progressOf(schedule), firedCount: 1 }, runs: [run] })

      await withLostAnswer(`belfry.${versionedName("fire")}(`, () => store.fire([plan]))

      assert.deepEqual(await store.fire([plan]), [{ outcome: "stale" }])
      const [after] = await store.findSchedules(
        { ids: [schedule.id] },
        { orderBy: "id", after: null, limit: 1 },
      )
      assert.equal(after!.runCount, 1)
      assert.equal((await runById(store, run.id)).state, "pending")
    }
    assert.equal(await countOf("runs"), TIMES)
  })

  test("a run is enqueued once", async () => {
    for (let times = 0; times < TIMES; times++) {
      const run = aRun({ liveKey: `key ${times}` })

      await withLostAnswer(`belfry.${versionedName("add")}(`, () => store.enqueue([run]))

      assert.deepEqual(await store.enqueue([run]), [{ outcome: "exists", runId: run.id }])
    }
    assert.equal(await countOf("runs"), TIMES)
  })

  test("a run ends once, and a repeated change is recognised as already made", async () => {
    for (let times = 0; times < TIMES; times++) {
      const run = await running(store, aRun())
      const change = succeed(run, OUTPUT)

      await withLostAnswer(`belfry.${versionedName("change")}(`, () => store.transition([change]))

      const [answer] = await store.transition([change])
      assert.ok(answer!.outcome === "stale" && isAlreadyMade(change, answer!))
      const after = await runById(store, run.id)
      assert.deepEqual([after.state, after.message], ["succeeded", "Sent"])
      assert.deepEqual(
        after.attempts.map(({ attempt, outcome }) => [attempt, outcome]),
        [[1, "succeeded"]],
      )
    }
  })

  test("a claimed run is not claimed again until its lease ends; then its attempt is recorded as unconfirmed", async () => {
    const ids: string[] = []
    for (let times = 0; times < TIMES; times++) {
      ids.push((await enqueued(store, aRun())).id)
      const one = aClaim({ tasks: [{ name: "report", leaseMs: LONG_MS }], limit: 1 })

      await withLostAnswer(`belfry.${versionedName("claim")}(`, () => store.claim(one))

      assert.deepEqual((await store.claim(one)).runs, [], "not claimed twice")
      const held = await runById(store, ids.at(-1)!)
      assert.deepEqual([held.state, held.attempt], ["running", 1])
      await psql.query("update belfry.runs set claimable_at = started_at where id = $1", [held.id])
      const { runs } = await store.claim(aClaim())
      assert.deepEqual(
        runs.map(({ id, attempt, lost, attempts }) => [
          id,
          attempt,
          lost,
          attempts.map(({ outcome }) => outcome),
        ]),
        [[held.id, 2, 0, ["unconfirmed"]]],
      )
      await store.transition(runs.map((run) => succeed(run, OUTPUT)))
    }
    assert.equal(await countOf("runs where state = 'succeeded' and attempt = 2 and lost = 0"), TIMES)
  })

  test("a schedule is created, changed and deleted once", async () => {
    for (let times = 0; times < TIMES; times++) {
      const schedule = aSchedule({ id: `s${times}` })
      await withLostAnswer("insert into belfry.schedules", () => store.putSchedule(schedule, null))
      assert.deepEqual(await store.putSchedule(schedule, null), { outcome: "stale" })

      const [stored] = await store.findSchedules(
        { ids: [schedule.id] },
        { orderBy: "id", after: null, limit: 1 },
      )
      await withLostAnswer("update belfry.schedules", () =>
        store.putSchedule({ ...stored!, description: "changed" }, stored!.version),
      )
      assert.deepEqual(await store.putSchedule(stored!, stored!.version), { outcome: "stale" })

      const [changed] = await store.findSchedules(
        { ids: [schedule.id] },
        { orderBy: "id", after: null, limit: 1 },
      )
      assert.equal(changed!.description, "changed")
      await withLostAnswer(`belfry.${versionedName("fire")}(`, () => deleteSchedule(store, changed!))
      assert.deepEqual(await deleteSchedule(store, changed!), { outcome: "stale" })
    }
    assert.equal(await countOf("schedules"), 0)
  })

  test("a heartbeat extends the lease, and the next one does so again", async () => {
    for (let times = 0; times < TIMES; times++) {
      const run = await running(store, aRun())
      const beat = aHeartbeat({ held: [heldRun(run, { leaseMs: 1_000_000 })] })

      await withLostAnswer(`belfry.${versionedName("extend")}(`, () => store.heartbeat(beat))

      assert.ok((await runById(store, run.id)).claimableAt! > (await store.now()) + 900_000)
      assert.deepEqual((await store.heartbeat(beat)).gone, [])
    }
  })

  test("a log line is stored once", async () => {
    const run = await enqueued(store, aRun())
    for (let number = 1; number <= TIMES; number++) {
      const line = aLogLine(run.id, { number })

      await withLostAnswer("insert into belfry.logs", () => store.appendLogs([line]))
      await store.appendLogs([line])
    }
    assert.equal(await countOf("logs"), TIMES)
  })
})

test("a lost request has no effect, and succeeds when it is sent again", async () => {
  const run = aRun()
  const lost = proxy.loseRequest(`belfry.${versionedName("add")}(`)
  await rejectsWith("BELFRY_STORE_UNAVAILABLE", store.enqueue([run]))
  await lost

  assert.equal(await countOf("runs"), 0)
  assert.deepEqual(await store.enqueue([run]), [{ outcome: "created", runId: run.id }])
})

test("a scheduler that loses answers performs every occurrence once", async () => {
  const { scheduler, begun, ids } = await tickingScheduler({
    store: aStore(proxy.through(url)),
    lease: "10m",
    pollInterval: "500ms",
  })

  for (const statement of ["fire", "change", "due", "extend"] as const)
    await proxy.loseAnswer(`belfry.${versionedName(statement)}(`)
  const at = begun.length
  await until(() => begun.length >= at + 2, "more runs begin")
  await stopWhenDone(scheduler, psql, ids)

  await assertRunEverySecond(psql, { schedules: ids.length })
  assert.equal(await countOf("runs where attempt <> 1 or state <> 'succeeded'"), 0)
  assert.equal(new Set(begun).size, begun.length)
})

/** Loses the answer of the statement: the call fails, and the server has performed it. */
async function withLostAnswer(statement: string, call: () => Promise<unknown>): Promise<void> {
  const lost = proxy.loseAnswer(statement)
  await rejectsWith("BELFRY_STORE_UNAVAILABLE", call())
  await lost
}

async function countOf(what: string): Promise<number> {
  const { rows } = await psql.query(`select count(*)::int as count from belfry.${what}`)
  return rows[0].count
}
