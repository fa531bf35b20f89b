import assert from "node:assert/strict"
import type { Hint, Store } from "belfry/store"
import { describe, test } from "vitest"
import { succeed } from "../../../src/core/run/run.ts"
import { aClaim, aPlan, aRun, aSchedule } from "../../../src/store/laws/factories.ts"
import { created, enqueued, running } from "../../../src/store/laws/steps.ts"
import { SHARED_HINTS } from "../../../src/stores/kit/shared-hints.ts"
import { advance, aVirtualClock } from "../../lock/lab.ts"
import { startRedis } from "../../support/redis.ts"
import { aFreshStore, anOpenStore, atTheEnd, hintsReceivedBy, rejectsWith, until } from "./scratch.ts"

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

describe("a server that stops answering", () => {
  test("fails every call by the deadline, and is used again when it answers again", async () => {
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
  test("and restarts with its data is used again by the same store", async () => {
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

  test("causes every hint after its restart, because hints may have been missed", async () => {
    const { server, place } = await aServer()
    const store = await anOpenStore(place)
    const received = await hintsReceivedBy(store)

    await server.kill()
    await server.restart()

    await until(() => new Set(received).size === SHARED_HINTS.length, "listeners get every hint")
    received.length = 0
    await until(() => answers(store), "it answers again")
    await store.enqueue([aRun()])
    await until(() => received.includes("runs"), "new hints arrive again")
  })

  test("sends hints after its restart to a listener that was added during the outage", async () => {
    const { server, place } = await aServer()
    const store = await anOpenStore(place)
    const received = new Set<Hint>()
    await server.kill()
    await store.listen((hint) => received.add(hint))

    await server.restart()

    await until(() => received.size === SHARED_HINTS.length, "listeners get every hint")
    received.clear()
    await until(() => answers(store), "it answers again")
    await store.enqueue([aRun()])
    await until(() => received.has("runs"), "new hints arrive")
  })
})

describe("hints", () => {
  test("reach other processes, and name what changed", async () => {
    const { store, place } = await aFreshStore()
    const received = await hintsReceivedBy(await anOpenStore(place))
    const assertHint = async (what: Hint, act: () => Promise<unknown>) => {
      received.length = 0
      await act()
      await until(() => received.includes(what), what)
    }

    await assertHint("schedules", () => created(store, aSchedule({ id: "s", nextRunAt: 0 })))
    await assertHint("runs", () => enqueued(store, aRun({ id: "r" })))
    const [run] = (await store.claim(aClaim())).runs
    await assertHint("cancelled", () => store.transition([{ ...succeed(run!, NOTHING), state: "cancelled" }]))
    assert.ok(!received.includes("schedules"))
  })

  test("a fire hints at schedules only if the next run is earlier than before", async () => {
    const { store, place } = await aFreshStore()
    const received = await hintsReceivedBy(await anOpenStore(place))
    const first = await created(store, aSchedule({ nextRunAt: 1_000 }))
    await until(() => received.length > 0, "the hint of the new schedule arrives")
    received.length = 0

    await store.fire([aPlan({ ...first, nextRunAt: 2_000 }, { runs: [aRun()] })])
    await until(() => received.includes("runs"))
    assert.deepEqual(received, ["runs"])

    const [later] = await store.findSchedules({ ids: [first.id] }, { orderBy: "id", after: null, limit: 1 })
    await store.fire([aPlan({ ...later!, nextRunAt: 1_500 })])
    await until(() => received.includes("schedules"))
  })
})
