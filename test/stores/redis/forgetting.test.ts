import assert from "node:assert/strict"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createScheduler, defineTask } from "belfry"
import { redis } from "belfry/redis"
import type { Hint, Store } from "belfry/store"
import type { Redis } from "ioredis"
import { describe, test } from "vitest"
import { aHeartbeat, aPlan, aRun, aSchedule } from "../../../src/store/laws/factories.ts"
import { created } from "../../../src/store/laws/steps.ts"
import { collectedLog } from "../../support/collected-log.ts"
import { type RedisServer, type ServerOptions, startRedis } from "../../support/redis.ts"
import { aClient, aFreshStore, anOpenStore, atTheEnd, rejectsWith, until } from "./scratch.ts"

const VERSIONS = "{belfry}:versions"

async function aServer(options: ServerOptions = {}): Promise<{ server: RedisServer; client: Redis }> {
  const server = await startRedis(options)
  atTheEnd(() => server.stop())
  return { server, client: aClient(server.url) }
}

/** Ticks each second, and keeps the ids of the runs it performed and the codes of the errors it was told. */
async function aScheduler(server: RedisServer, owner = "one") {
  const performed: string[] = []
  const told: string[] = []
  const { logger, lines } = collectedLog()
  const tick = defineTask({ name: owner, run: ({ run }) => void performed.push(run.id) })
  const scheduler = createScheduler({
    store: redis(server.url),
    owner,
    tasks: [tick],
    schedules: [tick.schedule(owner, { cron: "* * * * * *", catchUp: "all", overlap: "allow" })],
    // How soon a pause is seen, so that it is kept if the store forgets it.
    pollInterval: "200ms",
    logger,
    hooks: { error: (error) => told.push((error as { code?: string }).code ?? String(error)) },
  })
  atTheEnd(() => scheduler.stop())
  await scheduler.start()
  const forgotten = () => told.filter((code) => code === "BELFRY_STORE_FORGOT").length
  const goesOn = async (count = 2) => {
    const before = performed.length
    await until(() => performed.length >= before + count, `${owner} goes on`)
  }
  return { scheduler, performed, told, forgotten, goesOn, lines }
}

/** What is in its append-only files now; they stay the server's own when it is written back. */
function copyOfFiles({ folder }: RedisServer): () => void {
  const files = readdirSync(join(folder, "appendonlydir")).map((name) => join(folder, "appendonlydir", name))
  const copies = files.map((file) => readFileSync(file))
  return () => {
    for (const [index, file] of files.entries()) writeFileSync(file, copies[index]!)
  }
}

describe("a scheduler on a server", () => {
  test("that was restarted without its data says so, stores what it declares again, and goes on", async () => {
    const { server, client } = await aServer()
    const all = [await aScheduler(server, "first"), await aScheduler(server, "second")]
    await Promise.all(all.map(({ goesOn }) => goesOn()))
    const version = Number(await client.get(VERSIONS))

    await server.restart()

    await until(() => all.every(({ forgotten }) => forgotten() > 0), "each is told")
    await Promise.all(all.map(({ goesOn }) => goesOn()))
    assert.deepEqual(
      (await all[0]!.scheduler.schedules.list()).map(({ id }) => id),
      ["first", "second"],
    )
    for (const { forgotten, lines } of all) {
      assert.equal(forgotten(), 1, "each is told once")
      const logged = lines.filter(({ code }) => code === "BELFRY_STORE_FORGOT")
      assert.deepEqual(
        logged.map(({ level }) => level),
        ["error"],
      )
      assert.match(logged[0]!.message, /has lost what it had confirmed/)
    }
    assert.ok(Number(await client.get(VERSIONS)) > version + 1_000_000, "no version is given out again")
  })

  test("that was restarted without its data keeps what it declares paused, if it was", async () => {
    const { server, client } = await aServer()
    const [paused, other] = [await aScheduler(server, "paused"), await aScheduler(server, "other")]
    await other.goesOn()
    await paused.scheduler.schedules.pause("paused", { reason: "for now" })
    await other.goesOn()

    await server.restart()
    await until(async () => (await client.hexists("{belfry}:schedules:paused", "task")) === 1, "it is back")
    await other.goesOn()

    const found = await paused.scheduler.schedules.get("paused")
    assert.equal(found?.paused?.reason, "for now")
  })

  test("that went back to an older copy says so, and creates what is lost again, as the same runs", async () => {
    const { server } = await aServer({ isKept: true })
    const { scheduler, performed, goesOn, forgotten } = await aScheduler(server)
    await goesOn()
    const putBack = copyOfFiles(server)
    const kept = performed.length
    await goesOn(3)

    await server.kill()
    const lost = performed.slice(kept)
    putBack()
    await server.restart()

    await until(() => forgotten() > 0, "it is told")
    const again = () => performed.slice(kept + lost.length)
    await until(() => lost.every((id) => again().includes(id)), "what is lost is created again")
    await goesOn()
    assert.equal(forgotten(), 1)
    const runs = await scheduler.runs.list({ limit: 100 })
    const seconds = runs.map((run) => run.scheduledFor!.getTime() / 1_000).sort((a, b) => a - b)
    assert.deepEqual(
      seconds,
      seconds.map((_, index) => seconds[0]! + index),
      "each second has its run, and one only",
    )
  })

  test("that was restarted with all it had is told nothing of it", async () => {
    const { server, client } = await aServer({ isKept: true })
    const { goesOn, forgotten } = await aScheduler(server)
    await goesOn()
    const mark = await client.hget("{belfry}:schema", "mark")

    for (const down of [() => server.kill(), async () => undefined]) {
      await down()
      await server.restart()
      await goesOn()
    }

    assert.equal(forgotten(), 0)
    assert.equal(await client.hget("{belfry}:schema", "mark"), mark)
  })

  test("that has no memory left fails loudly, and goes on when there is some", async () => {
    const { server, client } = await aServer()
    const { scheduler, goesOn, told, forgotten } = await aScheduler(server)
    await goesOn()

    await client.config("SET", "maxmemory", "1mb")
    await until(() => told.includes("BELFRY_STORE_FULL"), "it is told")
    await rejectsWith("BELFRY_STORE_FULL", scheduler.enqueue("one"), /no memory left/)
    await client.config("SET", "maxmemory", "0")

    await goesOn()
    assert.equal(forgotten(), 0)
  })
})

/** What is heard of losses. */
async function listened(store: Store): Promise<Hint[]> {
  const heard: Hint[] = []
  await store.listen((hint) => {
    if (hint === "forgotten") heard.push(hint)
  })
  return heard
}

describe("a store", () => {
  test("whose keys are deleted under it notices at the next heartbeat, once", async () => {
    const { server, client } = await aServer()
    const { store } = await aFreshStore({ url: server.url, prefix: "belfry" })
    const heard = await listened(store)
    await store.heartbeat(aHeartbeat())

    await client.flushall()
    await store.heartbeat(aHeartbeat())

    await until(() => heard.length > 0, "it notices")
    await store.heartbeat(aHeartbeat())
    assert.deepEqual(heard, ["forgotten"])
    assert.equal(await client.hget("{belfry}:schema", "version"), "2")
  })

  test("that asks nothing notices when it is connected again", async () => {
    const { server } = await aServer()
    const { store } = await aFreshStore({ url: server.url, prefix: "belfry" })
    const heard = await listened(store)

    await server.restart()

    await until(() => heard.length > 0, "it notices")
    assert.deepEqual(heard, ["forgotten"])
  })

  test("notices when the server doesn't know a script that it knew: it may be a replica that took over", async () => {
    const { server, client } = await aServer()
    const { store } = await aFreshStore({ url: server.url, prefix: "belfry" })
    const heard = await listened(store)
    await created(store, aSchedule())
    await store.now()

    await client.set(VERSIONS, 0)
    await client.script("FLUSH")
    await store.now()

    await until(() => heard.length > 0, "it notices")
  })

  test("whose counter went back raises it, and others learn of it by the mark", async () => {
    const { server, client } = await aServer()
    const place = { url: server.url, prefix: "belfry" }
    const [store, peer] = [await anOpenStore(place), await anOpenStore(place)]
    const [heard, heardByPeer] = [await listened(store), await listened(peer)]
    const schedule = await created(store, aSchedule({ nextRunAt: 0 }))
    await store.fire([aPlan(schedule, { runs: [aRun()] })])
    const version = Number(await client.get(VERSIONS))

    await client.set(VERSIONS, version - 2)
    await store.heartbeat(aHeartbeat())
    await until(() => heard.length > 0, "it notices")
    // The peer has seen less than what is there now.
    await peer.heartbeat(aHeartbeat())
    await until(() => heardByPeer.length > 0, "the peer learns of it")

    assert.ok(Number(await client.get(VERSIONS)) > version + 1_000_000)
    assert.deepEqual([heard, heardByPeer], [["forgotten"], ["forgotten"]])
  })
})
