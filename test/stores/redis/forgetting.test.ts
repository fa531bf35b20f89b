import assert from "node:assert/strict"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createScheduler, type Duration, defineTask } from "belfry"
import type { Store } from "belfry/store"
import type { Redis } from "ioredis"
import { describe, test } from "vitest"
import { collectedLog } from "../../support/collected-log.ts"
import { type RedisServer, type ServerOptions, startRedis } from "../../support/redis.ts"
import { aClient, aStore, atTheEnd, rejectsWith, until } from "./scratch.ts"

const VERSIONS = "{belfry}:versions"

async function aServer(options: ServerOptions = {}): Promise<{ server: RedisServer; client: Redis }> {
  const server = await startRedis(options)
  atTheEnd(() => server.stop())
  return { server, client: aClient(server.url) }
}

/** Ticks each second, and keeps the ids of the runs it performed and the codes of the errors it was told. */
async function aScheduler(store: Store, owner = "one", pollInterval: Duration = "1m") {
  const performed: string[] = []
  let newest = 0
  const told: string[] = []
  const { logger, lines } = collectedLog()
  const tick = defineTask({
    name: owner,
    run({ run }) {
      performed.push(run.id)
      newest = Math.max(newest, run.scheduledFor!.getTime())
    },
  })
  const scheduler = createScheduler({
    store,
    owner,
    tasks: [tick],
    schedules: [tick.schedule(owner, { cron: "* * * * * *", catchUp: "all", overlap: "allow" })],
    pollInterval,
    logger,
    hooks: { error: (error) => told.push((error as { code?: string }).code ?? String(error)) },
  })
  atTheEnd(() => scheduler.stop())
  await scheduler.start()
  const forgotten = () => told.filter((code) => code === "BELFRY_STORE_FORGOT").length
  /** Performs an occurrence that is still to come. */
  const goesOn = async () => {
    const now = Date.now()
    await until(() => newest > now, `${owner} goes on`)
  }
  return { scheduler, performed, told, forgotten, goesOn, lines }
}

/** A store whose reads of schedules by id, as a scheduler polls for its own, are counted and can be held back. */
function withWatchedReads(store: Store) {
  let reads = 0
  let gate = Promise.resolve()
  let open: () => void = () => undefined
  const watched: Store = {
    ...store,
    async findSchedules(filter, page) {
      await gate
      const found = await store.findSchedules(filter, page)
      if (filter.ids !== undefined) reads++
      return found
    },
  }
  return {
    store: watched,
    /** One read may be under way; the next has begun since. */
    async readAgain() {
      const before = reads
      await until(() => reads >= before + 2, "the schedules are read again")
    },
    hold() {
      gate = new Promise((resolve) => {
        open = resolve
      })
    },
    letGo: () => open(),
  }
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
    const all = [
      await aScheduler(aStore(server.url), "first"),
      await aScheduler(aStore(server.url), "second"),
    ]
    await Promise.all(all.map(({ goesOn }) => goesOn()))
    const version = Number(await client.get(VERSIONS))

    await server.restart()

    await until(() => all.every(({ forgotten }) => forgotten() > 0), "each is told")
    await Promise.all(all.map(({ goesOn }) => goesOn()))
    assert.deepEqual(
      (await all[0]!.scheduler.schedules.list()).items.map(({ id }) => id),
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
    // It leaps by a million from what the first to notice has seen, and that may be less than what was there.
    assert.ok(Number(await client.get(VERSIONS)) > version + 900_000, "no version is given out again")
  })

  test("that was restarted without its data keeps what it declares paused, if it was", async () => {
    const { server, client } = await aServer()
    const { store, readAgain, hold, letGo } = withWatchedReads(aStore(server.url))
    const [paused, other] = [
      await aScheduler(store, "paused", "200ms"),
      await aScheduler(aStore(server.url), "other"),
    ]
    await paused.scheduler.schedules.pause("paused", { reason: "for now" })
    await readAgain()
    // A scheduler that reads twice before it is told takes the schedule for deleted. It polls faster here than others do.
    hold()

    await server.restart()
    await until(() => paused.forgotten() > 0, "it is told")
    letGo()
    await until(async () => (await client.hexists("{belfry}:schedules:paused", "task")) === 1, "it is back")
    await other.goesOn()

    const found = await paused.scheduler.schedules.get("paused")
    assert.equal(found?.paused?.reason, "for now")
  })

  test("that went back to an older copy says so, and creates what is lost again, as the same runs", async () => {
    const { server } = await aServer({ isKept: true })
    const { scheduler, performed, goesOn, forgotten } = await aScheduler(aStore(server.url))
    await goesOn()
    const putBack = copyOfFiles(server)
    const kept = performed.length
    await goesOn()
    await goesOn()

    await server.kill()
    const lost = performed.slice(kept)
    putBack()
    await server.restart()

    await until(() => forgotten() > 0, "it is told")
    const again = () => performed.slice(kept + lost.length)
    await until(() => lost.every((id) => again().includes(id)), "what is lost is created again")
    await goesOn()
    assert.equal(forgotten(), 1)
    const runs = (await scheduler.runs.list({ limit: 100 })).items
    const seconds = runs.map((run) => run.scheduledFor!.getTime() / 1_000).sort((a, b) => a - b)
    assert.deepEqual(
      seconds,
      seconds.map((_, index) => seconds[0]! + index),
      "each second has its run, and one only",
    )
  })

  test("that was restarted with all it had is told nothing of it", async () => {
    const { server, client } = await aServer({ isKept: true })
    const { goesOn, forgotten } = await aScheduler(aStore(server.url))
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
    const { scheduler, goesOn, told, forgotten } = await aScheduler(aStore(server.url))
    await goesOn()

    await client.config("SET", "maxmemory", "1mb")
    await until(() => told.includes("BELFRY_STORE_FULL"), "it is told")
    await rejectsWith("BELFRY_STORE_FULL", scheduler.enqueue("one"), /no memory left/)
    await client.config("SET", "maxmemory", "0")

    await goesOn()
    assert.equal(forgotten(), 0)
  })
})
