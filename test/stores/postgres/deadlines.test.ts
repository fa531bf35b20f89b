import assert from "node:assert/strict"
import { connect, createServer, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { createScheduler, defineTask, silentLogger } from "belfry"
import type { Pool } from "belfry/postgres"
import type { Store } from "belfry/store"
import pg from "pg"
import { beforeEach, describe, inject, test } from "vitest"
import { succeed } from "../../../src/core/run.ts"
import { systemClock } from "../../../src/engine/clock.ts"
import {
  aClaim,
  aHeartbeat,
  aLogLine,
  aPlan,
  aPruning,
  aRun,
  aSchedule,
} from "../../../src/store/laws/factories.ts"
import { createPostgresStore } from "../../../src/stores/postgres/postgres-store.ts"
import { type FaultProxy, faultProxy } from "../../support/fault-proxy.ts"
import { freshDatabase } from "../../support/fresh-database.ts"
import { atPort, freePort } from "../../support/servers.ts"
import { anOpenStore, aPsql, aStore, atTheEnd, connectionsTo, rejectsWith, until } from "./scratch.ts"

/** The way to the server fails, in each way a way can. Whoever called hears of it by the deadline, and nobody hangs. */

const DEADLINE_MS = 300
/** For a machine that is busy. */
const SLACK_MS = 400
const OPTIONS = { deadlineMs: DEADLINE_MS, connections: 4 }
/** One for each call, so that none of them waits. */
const PLENTY = { deadlineMs: DEADLINE_MS, connections: 20 }
/** The pool's, and the one that is reserved. */
const CONNECTIONS_MAX = OPTIONS.connections + 1

let proxy: FaultProxy
let url: string
let psql: pg.Client

beforeEach(async () => {
  proxy = await faultProxy(inject("postgres").port)
  atTheEnd(() => proxy.close())
  url = await freshDatabase()
  psql = await aPsql(url)
})

type Call = (store: Store) => Promise<unknown>

const CALLS: Readonly<Record<Exclude<keyof Store, "open" | "close" | "listen">, Call>> = {
  now: (store) => store.now(),
  putSchedule: (store) => store.putSchedule(aSchedule(), null),
  deleteSchedule: (store) => store.deleteSchedule("s", 1),
  dueSchedules: (store) => store.dueSchedules({ limit: 10 }),
  fire: (store) => store.fire([aPlan(aSchedule(), { runs: [aRun()] })]),
  enqueue: (store) => store.enqueue([aRun()]),
  claim: (store) => store.claim(aClaim()),
  heartbeat: (store) => store.heartbeat(aHeartbeat()),
  transition: (store) => store.transition([succeed(A_REF, { message: null, details: null })]),
  prune: (store) => store.prune(aPruning()),
  appendLogs: (store) => store.appendLogs([aLogLine("r")]),
  readLogs: (store) => store.readLogs({ runId: "r", after: null, limit: 1 }),
  findSchedules: (store) => store.findSchedules({}, { afterId: null, limit: 1 }),
  findRuns: (store) => store.findRuns({}, { orderBy: "createdAt", before: null, limit: 1 }),
  countRuns: (store) => store.countRuns({}),
  findWorkers: (store) => store.findWorkers({ afterId: null, limit: 1 }),
}
const A_REF = { id: "r", state: "running", attempt: 1, failures: 0, lost: 0 } as const

describe("in a black hole", () => {
  test("every call that is under way fails by its deadline", async () => {
    const store = await anOpenStore(proxy.through(url), PLENTY)
    await all((call) => call(store))
    proxy.blackhole()

    await all((call) => failsInTime(() => call(store)))
  })

  test("all calls at once fail by their deadline, also those that wait for a connection; then all succeed", async () => {
    const store = await throughProxy()
    proxy.blackhole()

    await all((call) => failsInTime(() => call(store)))
    await all((call) => failsInTime(() => call(store)))

    await proxy.mend()
    await until(() => succeeds(store), "calls succeed again", 3_000)
    await all((call) => call(store))
    assert.ok((await connectionsTo(psql)) <= CONNECTIONS_MAX)
  })

  test("heartbeats that wait for one another fail by their deadline, each", async () => {
    const store = await throughProxy()
    proxy.blackhole()

    await Promise.all([1, 2, 3].map(() => failsInTime(() => store.heartbeat(aHeartbeat()))))
  })

  test("opening fails by its deadline, and may be tried again", async () => {
    const store = aStore(proxy.through(url), OPTIONS)
    proxy.blackhole()

    await failsInTime(() => store.open())
    await proxy.mend()

    await store.open()
    assert.ok((await store.now()) > 0)
  })

  test("closing ends by the deadline", async () => {
    const store = await throughProxy()
    await Promise.all([store.now(), store.now(), store.heartbeat(aHeartbeat())])
    await store.listen(() => undefined)
    proxy.blackhole()
    const asking = rejectsWith("BELFRY_STORE_UNAVAILABLE", store.now())

    const began = performance.now()
    await store.close()

    assert.ok(performance.now() - began < DEADLINE_MS + SLACK_MS, `${performance.now() - began} ms`)
    await asking
  })

  test("closing ends by the deadline also if the goodbye gets lost", async () => {
    const store = await throughProxy()
    proxy.delay(50)
    const asking = store.now()
    await sleep(20)
    const began = performance.now()
    const closing = store.close()
    await asking

    proxy.blackhole()
    await closing

    assert.ok(performance.now() - began < DEADLINE_MS + SLACK_MS, `${performance.now() - began} ms`)
  })
})

describe("a server that is gone without a word", () => {
  test("connections it never answered don't use up the pool: the next are made to the one that is back", async () => {
    const tarPit = await aTarPit()
    const store = await anOpenStore(atPort(url, tarPit.port), OPTIONS)
    tarPit.swallow()

    // More than the pool has. Those who were swallowed are never told, neither now nor when the server is back.
    for (let times = 0; times < 2; times++) await all((call) => failsInTime(() => call(store)))
    tarPit.pass()

    await until(() => succeeds(store), "calls succeed again", 3_000)
    await all((call) => call(store))
    await until(() => tarPit.swallowed() === 0, "what was never answered is given up", 3_000)
  })

  test("a listener hears again once it is back", async () => {
    const tarPit = await aTarPit()
    const store = await anOpenStore(atPort(url, tarPit.port), OPTIONS)
    const heard: string[] = []
    await store.listen((hint) => heard.push(hint))
    await until(() => heard.length > 0)
    tarPit.swallow()
    await failsInTime(() => store.heartbeat(aHeartbeat()))
    await sleep(3 * DEADLINE_MS)
    tarPit.pass()

    await until(() => succeeds(store, CALLS.heartbeat), "the heart beats again", 5_000)
    await sleep(100)
    heard.length = 0
    await psql.query("select belfry.enqueue('report')")

    await until(() => heard.includes("runs"), "a hint")
  })
})

describe("a way that is slower than the deadline", () => {
  test("connections that come too late are used or given up, not kept", async () => {
    const store = await throughProxy()
    proxy.delay(DEADLINE_MS)

    await all((call) => failsInTime(() => call(store)))
    await Promise.all([1, 2, 3].map(() => failsInTime(() => store.heartbeat(aHeartbeat()))))
    await proxy.mend()
    await sleep(2 * DEADLINE_MS)

    await all((call) => call(store))
    assert.ok((await connectionsTo(psql)) <= CONNECTIONS_MAX, `${await connectionsTo(psql)} connections`)
  })
})

describe("the pool of a program that brought its own", () => {
  test("is left with no more connections than it had, and one beside it, by a way that was too slow", async () => {
    const { store } = await withOwnPool()
    proxy.delay(DEADLINE_MS)

    for (let times = 0; times < 3; times++) await failsInTime(() => store.heartbeat(aHeartbeat()))
    await proxy.mend()
    await sleep(3 * DEADLINE_MS)

    await store.heartbeat(aHeartbeat())
    assert.ok((await connectionsTo(psql)) <= 3, `${await connectionsTo(psql)} connections`)
  })

  test("may break under way", async () => {
    const { store } = await withOwnPool()
    proxy.delay(50)

    const calls = [store.now(), store.claim(aClaim()), store.heartbeat(aHeartbeat())]
    const failing = Promise.all(calls.map((each) => rejectsWith("BELFRY_STORE_UNAVAILABLE", each)))
    await sleep(60)
    proxy.cut()
    await failing
    await proxy.mend()

    assert.ok((await store.now()) > 0)
  })

  async function withOwnPool() {
    const pool = new pg.Pool({ connectionString: proxy.through(url), max: 2, application_name: "belfry" })
    pool.on("error", () => undefined)
    atTheEnd(() => pool.end())
    const about = { schema: "belfry", where: "the test's database", deadlineMs: DEADLINE_MS }
    const makePool = async () => ({ pool: pool as unknown as Pool, isOurs: false })
    const store = createPostgresStore(makePool, about, systemClock)
    atTheEnd(() => store.close())
    await store.open()
    return { store }
  }
})

describe("a connection that breaks", () => {
  test("every call that is under way fails at once, and then succeeds", async () => {
    const store = await anOpenStore(proxy.through(url), PLENTY)
    await all((call) => call(store))
    proxy.delay(DEADLINE_MS / 5)

    const failing = all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store)))
    await sleep(DEADLINE_MS / 5)
    proxy.cut()
    await failing
    await proxy.mend()

    await until(() => succeeds(store, CALLS.heartbeat), "the heart beats again", 3_000)
    await all((call) => call(store))
  })

  test("broken while nobody uses it, it costs at most a failed call", async () => {
    const store = await throughProxy()
    await all((call) => call(store))

    for (let times = 0; times < 5; times++) {
      proxy.cut()
      await sleep(50)
      await all((call) => call(store))
    }

    assert.ok((await connectionsTo(psql)) <= CONNECTIONS_MAX)
  })
})

test("where nobody listens every call fails at once, and says where", async () => {
  const store = await throughProxy()
  proxy.refuse()
  proxy.cut()
  await sleep(50)

  const words = /the test's database can't be used\. PostgreSQL says: connect ECONNREFUSED/
  await all((call) => rejectsWith("BELFRY_STORE_UNAVAILABLE", call(store), words))
  await proxy.mend()

  await all((call) => call(store))
})

test("a scheduler in a black hole goes on with its loops, and performs what was due when the way is mended", async () => {
  const performed: string[] = []
  const faults: unknown[] = []
  const tick = defineTask({ name: "tick", run: ({ run }) => void performed.push(run.id) })
  const scheduler = createScheduler({
    store: aStore(proxy.through(url), OPTIONS),
    tasks: [tick],
    schedules: [tick.schedule("often", { cron: "* * * * * *", overlap: "allow", catchUp: "all" })],
    hooks: { error: (error) => void faults.push(error) },
    logger: silentLogger,
  })
  await scheduler.start()
  atTheEnd(() => scheduler.stop())
  await until(() => performed.length >= 1)

  proxy.blackhole()
  await sleep(2_000)
  const before = performed.length
  await proxy.mend()

  await until(() => performed.length >= before + 3, "it performs again", 8_000)
  assert.ok(faults.length >= 2, "it was heard")
  await scheduler.stop()
  const { rows } = await psql.query("select scheduled_for, state from belfry.runs order by scheduled_for")
  const seconds = rows.map((row) => row.scheduled_for.getTime() / 1_000)
  assert.deepEqual(
    seconds,
    seconds.map((_, index) => seconds[0]! + index),
    "every second has its run",
  )
  assert.equal(new Set(performed).size, performed.length, "nothing was performed twice")
})

function throughProxy() {
  return anOpenStore(proxy.through(url), OPTIONS)
}

/** All at once. */
function all<T>(act: (call: Call) => Promise<T>): Promise<readonly T[]> {
  return Promise.all(Object.values(CALLS).map(act))
}

async function failsInTime(call: () => Promise<unknown>): Promise<void> {
  const began = performance.now()
  await rejectsWith("BELFRY_STORE_UNAVAILABLE", call())
  const tookMs = performance.now() - began
  assert.ok(tookMs < DEADLINE_MS + SLACK_MS, `it failed after ${tookMs} ms`)
}

async function succeeds(store: Store, call: Call = CALLS.now): Promise<boolean> {
  return call(store).then(
    () => true,
    () => false,
  )
}

/** Before the server; what comes while it swallows is taken, and never heard of again: not even a goodbye. */
async function aTarPit() {
  const port = await freePort()
  const sockets = new Set<Socket>()
  const stuck = new Set<Socket>()
  let isSwallowing = false
  const door = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const server = isSwallowing
      ? null
      : connect({ port: inject("postgres").port, host: "127.0.0.1", noDelay: true })
    if (server === null) stuck.add(client)
    for (const socket of server === null ? [client] : [client, server]) {
      sockets.add(socket)
      socket.on("error", () => undefined)
      socket.on("close", () => sockets.delete(socket))
    }
    // The other end's hanging up shows here as an end without a close.
    for (const event of ["end", "close", "error"]) client.on(event, () => stuck.delete(client))
    client.on("data", (bytes) => {
      if (server === null || isSwallowing) stuck.add(client)
      else if (!stuck.has(client)) server.write(bytes)
    })
    server?.on("data", (bytes) => !stuck.has(client) && client.write(bytes))
    client.on("end", () => server?.end())
    server?.on("end", () => !stuck.has(client) && client.end())
  })
  await new Promise<void>((resolve) => door.listen(port, "127.0.0.1", resolve))
  atTheEnd(() => {
    for (const socket of sockets) socket.destroy()
    door.close()
  })
  return {
    port,
    swallow() {
      isSwallowing = true
    },
    pass() {
      isSwallowing = false
    },
    /** How many of those that were swallowed the client still holds. */
    swallowed: () => stuck.size,
  }
}
