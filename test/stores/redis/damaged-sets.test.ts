import assert from "node:assert/strict"
import { aClaim, aRun, aSchedule, type Run, type Store } from "belfry/store"
import { describe, test } from "vitest"
import { succeed } from "../../../src/core/run/run.ts"
import { aHeartbeat } from "../../../src/store/laws/factories.ts"
import { created, enqueued, idsOf, runById } from "../../../src/store/laws/steps.ts"
import { aFreshStore } from "./scratch.ts"

/** Sorted sets that claims read, with members and scores written by another program. */

const SCORES = ["0", "1.5", "-1", "-inf", "+inf", "1e300", "-1e300", "9007199254740993"]

async function allClaimed(store: Store): Promise<readonly Run[]> {
  const claimed: Run[] = []
  for (let call = 0; call < 3; call++) {
    const { runs, nextClaimableAt } = await store.claim(aClaim())
    assert.ok(nextClaimableAt === null || Number.isSafeInteger(nextClaimableAt), `${nextClaimableAt}`)
    claimed.push(...runs)
  }
  return claimed
}

/** A finished run, and a pending one with the same keys. */
async function finishedAndNext() {
  const { store, client, prefix } = await aFreshStore()
  const keys = { liveKey: "live", concurrencyKey: "key", concurrencyLimit: 1 }
  const finished = await enqueued(store, aRun(keys))
  await store.transition(
    (await allClaimed(store)).map((run) => succeed(run, { message: null, details: null })),
  )
  const before = await runById(store, finished.id)
  const next = await enqueued(store, aRun(keys))
  const { task, priority } = next
  return { store, client, before, next, prefix, queue: `${prefix}:queue:${priority}:${task}` }
}

describe.each(SCORES)("in a queue, at %s", (score) => {
  test("a finished run is not claimed, and the others are", async () => {
    const { store, client, before, next, queue } = await finishedAndNext()
    await client.zadd(queue, score, before.id)

    assert.deepEqual(idsOf(await allClaimed(store)), [next.id])

    assert.deepEqual(await runById(store, before.id), before)
  })

  test.each(["no-such", "", "a b", "\u0000"])(
    "an id that no run has, %j, does not block other runs",
    async (id) => {
      const { store, client, next, queue } = await finishedAndNext()
      await client.zadd(queue, score, id)

      assert.deepEqual(idsOf(await allClaimed(store)), [next.id])
    },
  )

  test("a waiting run does not block other runs", async () => {
    const { store, client, next, queue } = await finishedAndNext()
    const other = await enqueued(store, aRun())
    await client.zadd(queue, score, next.id)

    assert.ok(idsOf(await allClaimed(store)).includes(other.id))
    await store.heartbeat(aHeartbeat())
  })
})

test("2,500 missing runs in a queue do not block other runs", async () => {
  const { store, client, next, queue } = await finishedAndNext()
  const gone = Array.from({ length: 2_500 }, (_, index) => ["0", `gone-${index}`]).flat()
  await client.zadd(queue, ...gone)

  const { runs } = await store.claim(aClaim())

  assert.deepEqual(idsOf(runs), [next.id])
  assert.equal(await client.zcount(queue, "-inf", "1"), 0)
})

test.each(["x", "", "1e300", "-1", "nan"])(
  "%j among a task's priorities does not stop a claim",
  async (priority) => {
    const { store, client, before, next, prefix } = await finishedAndNext()
    await client.zadd(`${prefix}:priorities:${next.task}`, "0", priority)
    await client.zadd(`${prefix}:queue:${priority}:${next.task}`, "0", before.id)

    assert.deepEqual(idsOf(await allClaimed(store)), [next.id])
  },
)

test.each(SCORES)(
  "a finished run among the runs that wait for their key, at %s, is not claimed",
  async (score) => {
    const { store, client, before, next, prefix } = await finishedAndNext()
    const third = await enqueued(store, aRun({ concurrencyKey: "key", concurrencyLimit: 1 }))
    const [claimed] = (await store.claim(aClaim())).runs
    const [waiting] = await client.keys(`${prefix}:waiting:*`)
    await client.zadd(waiting!, score, before.id)

    await store.transition([succeed(claimed!, { message: null, details: null })])

    assert.equal(claimed!.id, next.id)
    assert.deepEqual(idsOf(await allClaimed(store)), [third.id])
    assert.deepEqual(await runById(store, before.id), before)
  },
)

test.each(SCORES)(
  "an unknown id in the set of due schedules, at %s, does not block other schedules",
  async (score) => {
    const { store, client, prefix } = await aFreshStore()
    const good = await created(store, aSchedule({ nextRunAt: 1, coveredUntil: 0 }))
    await client.zadd(`${prefix}:due`, score, "no-such")

    const { due, nextDueAt } = await store.dueSchedules({ limit: 10 })

    assert.deepEqual(
      due.map(({ schedule }) => schedule.id),
      [good.id],
    )
    assert.ok(nextDueAt === null || Number.isSafeInteger(nextDueAt), `${nextDueAt}`)
  },
)
