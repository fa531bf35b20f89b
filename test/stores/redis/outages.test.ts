import assert from "node:assert/strict"
import type { Hint, Store } from "belfry/store"
import { describe, test } from "vitest"
import { succeed } from "../../../src/core/run.ts"
import { aClaim, aPlan, aRun, aSchedule } from "../../../src/store/laws/factories.ts"
import { created, enqueued, running } from "../../../src/store/laws/steps.ts"
import { SHARED_HINTS } from "../../../src/stores/kit/shared-hints.ts"
import { advance, aVirtualClock } from "../../lock/lab.ts"
import { startRedis } from "../../support/redis.ts"
import { aFreshStore, anOpenStore, atTheEnd, heardBy, rejectsWith, until } from "./scratch.ts"

const NOTHING = { message: null, details: null }

async function aServer() {
  const server = await startRedis({ isKept: true })
  atTheEnd(() => server.stop())
  return { server, place: { url: server.url, prefix: "belfry" } }
}

async function answers(store: Store): Promise<boolean> {
  try {
    await store.now()
    return true
  } catch {
    // Not yet.
    return false
  }
}

describe("a server that falls silent", () => {
  test("is a fault by the deadline, whoever asks, and is used again when it goes on", async () => {
    const { server, place } = await aServer()
    const clock = aVirtualClock()
    const store = await anOpenStore(place, { deadlineMs: 500, clock })
    const run = await running(store, aRun())
    process.kill(server.pid!, "SIGSTOP")
    atTheEnd(() => server.pid !== null && process.kill(server.pid, "SIGCONT"))

    const calls = [store.now(), store.enqueue([aRun()]), store.claim(aClaim()), store.findRuns({}, PAGE)]
    const refused = Promise.all(calls.map((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call)))
    await advance(clock, 500)

    for (const { message } of await refused) assert.match(message, /did not answer within 0\.5 s/)
    process.kill(server.pid!, "SIGCONT")
    await until(() => answers(store), "it answers again")
    assert.deepEqual(await store.transition([succeed(run, NOTHING)]), [{ outcome: "done" }])
  })
})

const PAGE = { orderBy: "createdAt", after: null, limit: 1 } as const

describe("a server that is killed", () => {
  test("and comes back with what it wrote down is used again, by the same store", async () => {
    const { server, place } = await aServer()
    const store = await anOpenStore(place)
    const schedule = await created(store, aSchedule({ nextRunAt: 0 }))
    const run = await running(store, aRun())

    await server.kill()
    await rejectsWith("BELFRY_STORE_UNAVAILABLE", store.now())
    await server.restart()
    await until(() => answers(store), "it answers again")

    assert.deepEqual(await store.transition([succeed(run, NOTHING)]), [{ outcome: "done" }])
    const [answer] = await store.fire([aPlan(schedule, { runs: [aRun({ id: "fired" })] })])
    assert.deepEqual(answer, { outcome: "done", created: ["fired"] })
  })

  test("hints at everything when it is back: something may have been missed", async () => {
    const { server, place } = await aServer()
    const store = await anOpenStore(place)
    const heard = await heardBy(store)

    await server.kill()
    await server.restart()

    await until(() => new Set(heard).size === SHARED_HINTS.length, "everything is hinted at")
    heard.length = 0
    await until(() => answers(store), "it answers again")
    await store.enqueue([aRun()])
    await until(() => heard.includes("runs"), "it hears again")
  })

  test("is heard again by one who began to listen while it was down", async () => {
    const { server, place } = await aServer()
    const store = await anOpenStore(place)
    const heard = new Set<Hint>()
    await server.kill()
    await store.listen((hint) => heard.add(hint))

    await server.restart()

    await until(() => heard.size === SHARED_HINTS.length, "everything is hinted at")
    heard.clear()
    await until(() => answers(store), "it answers again")
    await store.enqueue([aRun()])
    await until(() => heard.has("runs"), "it hears")
  })
})

describe("hints", () => {
  test("come from one process to another, by the word for what happened", async () => {
    const { store, place } = await aFreshStore()
    const heard = await heardBy(await anOpenStore(place))
    const next = async (what: Hint, act: () => Promise<unknown>) => {
      heard.length = 0
      await act()
      await until(() => heard.includes(what), what)
    }

    await next("schedules", () => created(store, aSchedule({ id: "s", nextRunAt: 0 })))
    await next("runs", () => enqueued(store, aRun({ id: "r" })))
    const [run] = (await store.claim(aClaim())).runs
    await next("cancelled", () => store.transition([{ ...succeed(run!, NOTHING), state: "cancelled" }]))
    assert.ok(!heard.includes("schedules"))
  })

  test("a fire that goes on as expected is no news of schedules; one that comes sooner is", async () => {
    const { store, place } = await aFreshStore()
    const heard = await heardBy(await anOpenStore(place))
    const first = await created(store, aSchedule({ nextRunAt: 1_000 }))
    await until(() => heard.length > 0, "the new schedule is heard of")
    heard.length = 0

    await store.fire([aPlan({ ...first, nextRunAt: 2_000 }, { runs: [aRun()] })])
    await until(() => heard.includes("runs"))
    assert.deepEqual(heard, ["runs"])

    const [later] = await store.findSchedules({ ids: [first.id] }, { orderBy: "id", after: null, limit: 1 })
    await store.fire([aPlan({ ...later!, nextRunAt: 1_500 })])
    await until(() => heard.includes("schedules"))
  })
})
