import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { DEFAULT_RETRY } from "../../../src/core/run/backoff.ts"
import { fail, succeed } from "../../../src/core/run/run.ts"
import { progressOf } from "../../../src/core/schedule/schedule.ts"
import {
  AN_INSTANT,
  aClaim,
  aHeartbeat,
  aLogLine,
  aPlan,
  aPruning,
  aRun,
  aRunOf,
  aSchedule,
  aWorker,
  pruned,
} from "../../../src/store/laws/factories.ts"
import { created, deleteSchedule, running } from "../../../src/store/laws/steps.ts"
import { aFreshStore } from "./scratch.ts"

const NOTHING = { message: null, details: null }
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

describe("a schedule's hash", () => {
  test("has plain fields for the task, the last run and the next run", async () => {
    const { store, client, prefix } = await aFreshStore()
    const schedule = await created(store, aSchedule({ id: "nightly", task: "report", owner: "billing" }))
    const progress = {
      ...progressOf(schedule),
      nextRunAt: AN_INSTANT + 86_400_000,
    }

    const [first, last] = [aRunOf("nightly"), aRunOf("nightly")]
    await store.fire([aPlan(schedule, { progress, runs: [first, last] })])

    const hash = await client.hgetall(`${prefix}:schedules:nightly`)
    assert.equal(hash["task"], "report")
    assert.equal(hash["owner"], "billing")
    assert.equal(hash["enabled"], "true")
    assert.match(hash["last_run"]!, RFC_3339)
    assert.equal(hash["last_run_id"], last.id)
    assert.equal(hash["next_run"], "2026-03-28T07:00:00.000Z")
    assert.equal(hash["run_count"], "2")
    assert.equal(JSON.parse(hash["definition"]!).timezone, "UTC")
    assert.deepEqual(JSON.parse(hash["progress"]!), progress)
  })

  test("has no fields for empty values", async () => {
    const { store, client, prefix } = await aFreshStore()
    const schedule = await created(store, aSchedule({ id: "s", owner: "billing", tags: ["a"], nextRunAt: 0 }))

    await store.putSchedule({ ...schedule, owner: null, tags: [], nextRunAt: null }, schedule.version)

    const fields = Object.keys(await client.hgetall(`${prefix}:schedules:s`)).sort()
    const counts = ["failures_in_a_row", "run_count"]
    assert.deepEqual(fields, ["definition", "enabled", ...counts, "progress", "task", "version"].sort())
  })

  test("has the time of the last success, by the server's clock, and the error of a failed run or a failed plan", async () => {
    const { store, client, prefix } = await aFreshStore()
    await created(store, aSchedule({ id: "s" }))
    const read = () => client.hmget(`${prefix}:schedules:s`, "last_success", "last_error")

    const before = await store.now()
    await store.transition([succeed(await running(store, aRunOf("s")), NOTHING)])
    const after = await store.now()
    const [success, noError] = await read()
    const failure = { outcome: "failed", error: "Error: no paper", retry: "never", output: NOTHING } as const
    await store.transition([fail(await running(store, aRunOf("s")), failure, DEFAULT_RETRY, 0)])
    const [sameSuccess, error] = await read()

    assert.match(success!, RFC_3339)
    assert.ok(Date.parse(success!) >= before && Date.parse(success!) <= after)
    assert.deepEqual([noError, sameSuccess], [null, success])
    assert.equal(error, "Error: no paper")
    const ends = await client.hmget(`${prefix}:schedules:s`, "last_state", "last_ended", "failures_in_a_row")
    assert.deepEqual([ends[0], ends[2]], ["failed", "1"])
    assert.ok(Date.parse(ends[1]!) >= after)

    const [schedule] = await store.findSchedules({}, { orderBy: "id", after: null, limit: 1 })
    await store.putSchedule({ ...schedule!, lastError: "The zone is unknown" }, schedule!.version)
    assert.deepEqual(await read(), [success, "The zone is unknown"])
  })

  test("is not created again by a run that outlives its schedule", async () => {
    const { store, client, prefix } = await aFreshStore()
    const schedule = await created(store, aSchedule({ id: "s" }))
    const run = await running(store, aRunOf("s"))
    await deleteSchedule(store, schedule)

    await store.transition([succeed(run, NOTHING)])

    assert.equal(await client.exists(`${prefix}:schedules:s`), 0)
  })
})

test("a deleted schedule, its pruned runs and departed workers leave only the keys schema and versions", async () => {
  const { store, client, prefix } = await aFreshStore()
  const schedule = await created(store, aSchedule({ id: "s", owner: "o", tags: ["t"], nextRunAt: 0 }))
  const runs = [1, 2].map((id) =>
    aRunOf("s", { id: `r${id}`, concurrencyLimit: 1, scheduledFor: AN_INSTANT }),
  )
  await store.fire([aPlan(schedule, { progress: null, runs })])
  for (const { id } of runs) {
    const { runs: claimed } = await store.claim(aClaim())
    await store.heartbeat(aHeartbeat({ worker: aWorker({ id: "w" }) }))
    await store.appendLogs([aLogLine(id)])
    await store.transition(claimed.map((run) => succeed(run, NOTHING)))
  }
  await store.heartbeat(aHeartbeat({ worker: aWorker({ id: "w" }), isLeaving: true }))
  await new Promise((resolve) => setTimeout(resolve, 5))

  assert.deepEqual(await store.prune(aPruning({ olderThanMs: 1 })), pruned({ runs: 2, workers: 0 }))
  await store.claim(aClaim())

  const keys = (await client.keys(`${prefix}*`)).sort()
  const calls = keys.filter((key) => key.startsWith(`${prefix}:calls:`))
  const lifetimes = await Promise.all(calls.map((key) => client.pttl(key)))
  assert.deepEqual(
    keys.filter((key) => !calls.includes(key)),
    [`${prefix}:schema`, `${prefix}:versions`],
  )
  // -1: no expiry. -2: expired by now.
  assert.ok(calls.length > 0 && !lifetimes.includes(-1), "answers to calls expire")
})

test("a pruned run with an occurrence but without a schedule is in no list", async () => {
  const { store, client, prefix } = await aFreshStore()
  await store.enqueue([aRun({ id: "r", scheduledFor: AN_INSTANT })])
  const { runs } = await store.claim(aClaim())
  await store.transition(runs.map((run) => succeed(run, NOTHING)))

  await store.prune(aPruning({ olderThanMs: -1_000_000 }))

  assert.deepEqual(await client.keys(`${prefix}:history:*`), [])
})

test("a name may contain any characters, also those that separate the parts of keys", async () => {
  const { store } = await aFreshStore()
  const names = ["due", "ids", "a:b", "{x}", "*", "%41", "a b\n\t\u0000", "東京", "", "1:2:3", "runs:r"]

  for (const name of names) {
    await created(store, aSchedule({ id: `id ${name}`, task: name, owner: name, tags: [name] }))
    await store.enqueue([
      aRun({ id: `1 ${name}`, task: name, concurrencyKey: name, concurrencyLimit: 1, liveKey: name }),
      aRun({ id: `2 ${name}`, task: name, concurrencyKey: name, concurrencyLimit: 1 }),
    ])
  }

  for (const name of names) {
    const claim = aClaim({ tasks: [{ name, leaseMs: 60_000 }], workerId: name })
    const first = await store.claim(claim)
    assert.deepEqual(
      first.runs.map(({ id, task, liveKey, workerId }) => [id, task, liveKey, workerId]),
      [[`1 ${name}`, name, name, name]],
    )
    await store.transition(first.runs.map((run) => succeed(run, NOTHING)))
    assert.deepEqual(
      (await store.claim(claim)).runs.map(({ id }) => id),
      [`2 ${name}`],
    )
    const page = { orderBy: "id", after: null, limit: 10 } as const
    for (const filter of [{ task: name }, { owner: name }, { tag: name }]) {
      assert.deepEqual(
        (await store.findSchedules(filter, page)).map(({ id }) => id),
        [`id ${name}`],
      )
    }
  }
})

test("two prefixes on one server are separate stores", async () => {
  const [one, two] = [await aFreshStore(), await aFreshStore()]

  await one.store.enqueue([aRun({ id: "r" })])

  assert.deepEqual((await two.store.claim(aClaim())).runs, [])
  assert.equal((await one.store.claim(aClaim())).runs.length, 1)
})
