import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { succeed } from "../../../src/core/run/run.ts"
import { aClaim, aPlan, aRun, aSchedule, aStoredSchedule } from "../../../src/store/laws/factories.ts"
import { countRuns, created, deleteSchedule, running } from "../../../src/store/laws/steps.ts"
import { faultProxy } from "../../support/fault-proxy.ts"
import { startRedis } from "../../support/redis.ts"
import { anOpenStore, atTheEnd, rejectsWith } from "./scratch.ts"

/** The connection breaks after the server ran a call and before its answer arrived, so the driver sends the call again. */

async function aStoreBehindAProxy() {
  const server = await startRedis()
  atTheEnd(() => server.stop())
  const proxy = await faultProxy(server.port)
  atTheEnd(() => proxy.close())
  const store = await anOpenStore({ url: proxy.through(server.url), prefix: "belfry" })
  /** The script must have been used before, so that the call is one EVALSHA. */
  const withLostAnswer = async <T>(call: () => Promise<T>): Promise<T> => {
    const lost = proxy.loseAnswer("evalsha")
    const answer = await call()
    await lost
    return answer
  }
  return { store, withLostAnswer }
}

const NOTHING = { message: null, details: null }

describe("a call that is sent again gets the first answer:", () => {
  test("creating, editing and deleting a schedule", async () => {
    const { store, withLostAnswer } = await aStoreBehindAProxy()
    await created(store, aSchedule({ id: "warm" }))
    await deleteSchedule(store, { id: "warm", version: 0 })

    const put = await withLostAnswer(() => store.putSchedule(aSchedule({ id: "s" }), null))
    const [stored] = await store.findSchedules({ ids: ["s"] }, { orderBy: "id", after: null, limit: 1 })
    assert.deepEqual(put, { outcome: "done", version: stored!.version })

    const edited = await withLostAnswer(() =>
      store.putSchedule({ ...stored!, description: "edited" }, stored!.version),
    )
    assert.ok(edited.outcome === "done")
    const deleted = await withLostAnswer(() => deleteSchedule(store, { id: "s", version: edited.version }))
    assert.deepEqual(deleted, { outcome: "done", created: [] })
  })

  test("firing plans, with the runs that they created", async () => {
    const { store, withLostAnswer } = await aStoreBehindAProxy()
    await store.fire([aPlan(aStoredSchedule())])
    await store.enqueue([aRun({ id: "there" })])
    const schedules = [await created(store, aSchedule()), await created(store, aSchedule())]

    const answers = await withLostAnswer(() =>
      store.fire([
        aPlan(schedules[0]!, { runs: [aRun({ id: "a" }), aRun({ id: "there" })] }),
        aPlan({ ...schedules[1]!, version: 0 }, { runs: [aRun({ id: "b" })] }),
      ]),
    )

    assert.deepEqual(answers, [{ outcome: "done", created: ["a"] }, { outcome: "stale" }])
  })

  test("enqueuing a run, and finishing a run", async () => {
    const { store, withLostAnswer } = await aStoreBehindAProxy()
    const run = await running(store, aRun())
    await store.transition([])
    await store.transition([succeed({ ...run, attempt: 9 }, NOTHING)])

    const enqueued = await withLostAnswer(() => store.enqueue([aRun({ id: "r" })]))
    const finished = await withLostAnswer(() => store.transition([succeed(run, NOTHING)]))

    assert.deepEqual(enqueued, [{ outcome: "created", runId: "r" }])
    assert.deepEqual(finished, [{ outcome: "done" }])
  })
})

test("a claim that is sent again fails and claims no more runs; the worker later releases unknown runs", async () => {
  const { store, withLostAnswer } = await aStoreBehindAProxy()
  await store.claim(aClaim())
  await store.enqueue([aRun(), aRun()])

  await rejectsWith(
    "BELFRY_STORE_UNAVAILABLE",
    withLostAnswer(() => store.claim(aClaim({ limit: 1 }))),
    /broke before the answer came/,
  )

  const { pending, running: taken } = await countRuns(store)
  assert.deepEqual([pending, taken], [1, 1])
})

test("the same call made twice by the caller is two calls", async () => {
  const { store } = await aStoreBehindAProxy()

  const answers = [await store.enqueue([aRun({ id: "r" })]), await store.enqueue([aRun({ id: "r" })])]

  assert.deepEqual(
    answers.map(([answer]) => answer!.outcome),
    ["created", "exists"],
  )
})
