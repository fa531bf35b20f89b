import assert from "node:assert/strict"
import { aClaim, aRun, aSchedule } from "belfry/store"
import { describe, test } from "vitest"
import { planFire } from "../../../src/core/planning/fire.ts"
import { succeed } from "../../../src/core/run/run.ts"
import { aHeartbeat, aLogLine, aPruning, aWorker, heldRun } from "../../../src/store/laws/factories.ts"
import { aPage, created, enqueued } from "../../../src/store/laws/steps.ts"
import { aFreshStore, rejectsWith } from "./scratch.ts"

/** Keys to which another program gave another type. */

describe("a key of the wrong type", () => {
  test("of a schedule: the other schedules fire and are listed", async () => {
    const { store, client, prefix } = await aFreshStore()
    const bad = await created(store, aSchedule({ nextRunAt: 1, coveredUntil: 0 }))
    const good = await created(store, aSchedule({ nextRunAt: 1, coveredUntil: 0 }))
    await client.set(`${prefix}:schedules:${bad.id}`, "text")

    const { due, now } = await store.dueSchedules({ limit: 10 })
    const answers = await store.fire(due.map(({ schedule, facts }) => planFire(schedule, facts, now)))

    assert.deepEqual(
      due.map(({ schedule }) => schedule.id),
      [good.id],
    )
    assert.equal(answers[0]!.outcome, "done")
    const listed = await store.findSchedules({}, { orderBy: "id", after: null, limit: 10 })
    assert.deepEqual(
      listed.map(({ id }) => id),
      [good.id],
    )
    assert.deepEqual(await store.fire([{ ...planFire(bad, due[0]!.facts, now) }]), [{ outcome: "stale" }])
  })

  test("of a pending run: the other runs are claimed", async () => {
    const { store, client, prefix } = await aFreshStore()
    const bad = await enqueued(store, aRun())
    const good = await enqueued(store, aRun())
    await client.set(`${prefix}:runs:${bad.id}`, "text")

    const { runs } = await store.claim(aClaim())

    assert.deepEqual(
      runs.map(({ id }) => id),
      [good.id],
    )
    const listed = await store.findRuns({}, aPage())
    assert.deepEqual(
      listed.map(({ id }) => id),
      [good.id],
    )
  })

  test.each(["runs", "attempts", "logs"])(
    "of a running run, %s: its worker keeps its other runs",
    async (kind) => {
      const { store, client, prefix } = await aFreshStore()
      const bad = await enqueued(store, aRun())
      const good = await enqueued(store, aRun())
      const { runs } = await store.claim(aClaim())
      await client.set(`${prefix}:${kind}:${bad.id}`, "text")

      const { gone } = await store.heartbeat(aHeartbeat({ held: runs.map((run) => heldRun(run)) }))
      await store.appendLogs(runs.map((run) => aLogLine(run.id)))
      const answers = await store.transition(
        runs.map((run) => succeed(run, { message: null, details: null })),
      )

      assert.ok(!gone.some(({ runId }) => runId === good.id))
      assert.deepEqual(answers[runs.findIndex(({ id }) => id === good.id)], { outcome: "done" })
      assert.equal((await store.readLogs({ runId: good.id, after: null, limit: 10 })).length, 1)
      assert.deepEqual(await store.readLogs({ runId: bad.id, after: null, limit: 0 }), [])
      await store.prune(aPruning({ olderThanMs: -1_000_000 }))
      assert.deepEqual(await store.findRuns({ ids: [good.id] }, aPage()), [])
    },
  )

  test.each(["about", "whole"])(
    "of a worker, %s: all workers are listed, and its next heartbeat repairs it",
    async (damage) => {
      const { store, client, prefix } = await aFreshStore()
      for (const id of ["bad", "good"]) await store.heartbeat(aHeartbeat({ worker: aWorker({ id }) }))
      await (damage === "about"
        ? client.hset(`${prefix}:workers:bad`, "about", "{damaged")
        : client.set(`${prefix}:workers:bad`, "text"))

      const damaged = await store.findWorkers({ afterId: null, limit: 10 })
      await store.heartbeat(aHeartbeat({ worker: aWorker({ id: "bad" }) }))
      const repaired = await store.findWorkers({ afterId: null, limit: 10 })

      assert.deepEqual(
        damaged.map(({ id, tasks }) => [id, tasks]),
        [
          ["bad", []],
          ["good", ["report"]],
        ],
      )
      assert.deepEqual(
        repaired.map(({ id, tasks }) => [id, tasks]),
        [
          ["bad", ["report"]],
          ["good", ["report"]],
        ],
      )
    },
  )

  test("of a queue: the runs of other tasks are claimed", async () => {
    const { store, client, prefix } = await aFreshStore()
    await enqueued(store, aRun({ task: "bad" }))
    const good = await enqueued(store, aRun({ task: "good" }))
    await client.set(`${prefix}:queue:0:bad`, "text")

    const tasks = ["bad", "good"].map((name) => ({ name, leaseMs: 600_000 }))
    const { runs } = await store.claim(aClaim({ tasks }))

    assert.deepEqual(
      runs.map(({ id }) => id),
      [good.id],
    )
  })
})

describe("a shared key of the wrong type", () => {
  test.each(["due", "schema", "live"])("%s is named in the error", async (name) => {
    const { store, client, prefix } = await aFreshStore()
    await created(store, aSchedule({ nextRunAt: 1, coveredUntil: 0 }))
    await client.del(`${prefix}:${name}`)
    await client.rpush(`${prefix}:${name}`, "text")

    const error = await rejectsWith("BELFRY_STORE_UNFIT", store.dueSchedules({ limit: 10 }), /wrong type/)

    assert.ok(error.message.includes(`${prefix}:${name} is a list instead of a `), error.message)
  })
})

test("with the set of parked keys of the wrong type, no run is half changed, and calls work after its repair", async () => {
  const { store, client, prefix } = await aFreshStore()
  const limited = () => aRun({ concurrencyKey: "key", concurrencyLimit: 1 })
  const [first, second] = [await enqueued(store, limited()), await enqueued(store, limited())]
  const { runs } = await store.claim(aClaim())
  const end = runs.map((run) => succeed(run, { message: null, details: null }))
  await client.del(`${prefix}:parked`)
  await client.hset(`${prefix}:parked`, "a", "b")

  for (const call of [store.transition(end), store.claim(aClaim())])
    await rejectsWith("BELFRY_STORE_UNFIT", call, /parked is a hash instead of a set/)
  await client.del(`${prefix}:parked`)
  await client.sadd(`${prefix}:parked`, "key")
  const answers = await store.transition(end)
  const next = await store.claim(aClaim())

  assert.deepEqual(answers, [{ outcome: "done" }])
  assert.deepEqual([runs[0]!.id, next.runs[0]!.id], [first.id, second.id])
})

test("a log line that can't be read is returned as unreadable, and the other lines are read", async () => {
  const { store, client, prefix } = await aFreshStore()
  const run = await enqueued(store, aRun())
  const lines = [1, 2, 3, 4].map((number) => ({ ...aLogLine(run.id), attempt: 1, number }))
  await store.appendLogs(lines)
  const key = `${prefix}:logs:${run.id}`
  const members = await client.zrange(key, "0", "-1")
  await client.zrem(key, members[1]!, members[2]!)
  const scoreOf = (number: number) => String(2 ** 32 + number)
  await client.zadd(key, scoreOf(2), "x")
  await client.zadd(key, scoreOf(3), '2026-01-01T00:00:00.000Z {"level":1}')

  const first = await store.readLogs({ runId: run.id, after: null, limit: 2 })
  const rest = await store.readLogs({ runId: run.id, after: first[1]!, limit: 10 })

  const read = [...first, ...rest].map(({ attempt, number, message }) => [attempt, number, message])
  const { message } = lines[0]!
  const unreadable = "This line can't be read"
  assert.deepEqual(read, [
    [1, 1, message],
    [1, 2, unreadable],
    [1, 3, unreadable],
    [1, 4, message],
  ])
})
