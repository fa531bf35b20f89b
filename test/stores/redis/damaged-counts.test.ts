import assert from "node:assert/strict"
import { aClaim, aRun, aSchedule, type Run } from "belfry/store"
import { test } from "vitest"
import { succeed } from "../../../src/core/run/run.ts"
import { aPruning, aSkip } from "../../../src/store/laws/factories.ts"
import { aPage, countRuns, created, enqueued, idsOf, scheduleById } from "../../../src/store/laws/steps.ts"
import { aFreshStore } from "./scratch.ts"

/** Counts of runs, and sets of runs that wait for their key, damaged by another program. */

const COUNTS = ["", "x", "1.5", "-1", "-7", "1e300", "nan", "inf", "9007199254740993", "99999999999999999999"]
const KEY = { concurrencyKey: "key", concurrencyLimit: 1 }
const NOTHING = { message: null, details: null }

const succeeded = (run: Run) => succeed(run, NOTHING)

/** A concurrency key at its limit, and a run that waits for it. */
async function aFullKey() {
  const place = await aFreshStore()
  const { store } = place
  await store.enqueue([aRun({ id: "first", ...KEY }), aRun({ id: "second", ...KEY })])
  const [first] = (await store.claim(aClaim())).runs
  const claimedIds = async () => idsOf((await store.claim(aClaim())).runs)
  return { ...place, first: first!, claimedIds }
}

test.each(COUNTS)(
  "with %j as the running count of a key, other runs are claimed and the key's limit holds",
  async (count) => {
    const { store, client, prefix, first, claimedIds } = await aFullKey()
    await client.hset(`${prefix}:running`, "key", count)
    await store.enqueue([aRun({ id: "third", ...KEY }), aRun({ id: "free" })])

    const others = await claimedIds()
    const answers = await store.transition([succeeded(first)])
    const next = await claimedIds()

    assert.deepEqual([others, answers, next], [["free"], [{ outcome: "done" }], ["second"]])
  },
)

test.each(COUNTS)(
  "with %j as the running count of a key, the next run is claimed when one ends",
  async (count) => {
    const { store, client, prefix, first, claimedIds } = await aFullKey()
    await client.hset(`${prefix}:running`, "key", count)
    const free = await enqueued(store, aRun())
    const [other] = (await store.claim(aClaim())).runs

    const answers = await store.transition([succeeded(first), succeeded(other!)])

    assert.deepEqual(answers, [{ outcome: "done" }, { outcome: "done" }])
    assert.deepEqual([other!.id, await claimedIds()], [free.id, ["second"]])
  },
)

test.each(COUNTS)(
  "with %j as the running count of a schedule, its limit holds for a single run",
  async (count) => {
    const { store, client, prefix } = await aFreshStore()
    const key = "schedule:s1"
    const single = { scheduleId: "s1", liveKey: key, concurrencyKey: key, concurrencyLimit: 1 }
    await enqueued(store, aRun({ id: "single", ...single }))
    const [run] = (await store.claim(aClaim())).runs
    await client.hset(`${prefix}:running`, key, count)
    await store.enqueue([aRun({ id: "by hand", ...single, liveKey: null })])

    const others = (await store.claim(aClaim())).runs
    await store.transition([succeeded(run!)])

    assert.deepEqual([idsOf(others), idsOf((await store.claim(aClaim())).runs)], [[], ["by hand"]])
  },
)

test.each(COUNTS)(
  "with %j as the count of each state, all calls work and runs are counted correctly",
  async (count) => {
    const { store, client, prefix } = await aFreshStore()
    await store.enqueue([aRun({ scheduleId: "s1" }), aRun(), aSkip({ scheduleId: "s1" })])
    for (const field of await client.hkeys(`${prefix}:counts`))
      await client.hset(`${prefix}:counts`, field, count)

    await store.enqueue([aRun()])
    const { runs } = await store.claim(aClaim())
    await store.transition(runs.slice(0, 2).map(succeeded))

    const none = { pending: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }
    assert.deepEqual(await countRuns(store), { ...none, running: 1, succeeded: 2, skipped: 1 })
    assert.deepEqual(await countRuns(store, { task: "report" }), await countRuns(store))
    assert.deepEqual(await countRuns(store, { scheduleId: "s1" }), { ...none, succeeded: 1, skipped: 1 })
    assert.equal((await store.findRuns({ states: ["succeeded", "skipped"] }, aPage())).length, 3)
    assert.equal((await store.prune(aPruning({ olderThanMs: -1_000_000 }))).runs, 3)
  },
)

test.each([
  "",
  "x",
  "1:0",
  "a:b:report",
  "1::report",
  "1:0:",
  "-1:0:report",
  "99999999999999999999:0:report",
])("%j in the set of waiting places of a key keeps no run waiting", async (place) => {
  const { store, client, prefix, first, claimedIds } = await aFullKey()
  await client.sadd(`${prefix}:parked:key`, place)

  const answers = await store.transition([succeeded(first)])

  assert.deepEqual([answers, await claimedIds()], [[{ outcome: "done" }], ["second"]])
})

test.each(["", "x", "\u0000"])(
  "%j in the set of keys that runs wait for keeps no run waiting",
  async (key) => {
    const { store, client, prefix, first, claimedIds } = await aFullKey()
    await client.sadd(`${prefix}:parked`, key)

    await store.transition([succeeded(first)])

    assert.deepEqual(await claimedIds(), ["second"])
  },
)

test.each([
  ["run_count", "-1"],
  ["last_run", "x"],
])("a schedule with a damaged %s is repaired when it is written again", async (field, value) => {
  const { store, client, prefix } = await aFreshStore()
  const schedule = await created(store, aSchedule())
  await client.hset(`${prefix}:schedules:${schedule.id}`, field, value)
  const damaged = await scheduleById(store, schedule.id)

  await store.putSchedule(schedule, damaged.version)

  assert.match(damaged.lastError!, /can't be read/)
  assert.equal((await scheduleById(store, schedule.id)).lastError, null)
})
