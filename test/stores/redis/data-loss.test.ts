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

/** A scheduler that fires every second. Collects the ids of performed runs and the codes of errors. */
async function aScheduler(store: Store, owner = "one", pollInterval: Duration = "1m") {
  const performed: string[] = []
  let newest = 0
  const errorCodes: string[] = []
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
    hooks: { error: (error) => errorCodes.push((error as { code?: string }).code ?? String(error)) },
  })
  atTheEnd(() => scheduler.stop())
  await scheduler.start()
  const forgotten = () => errorCodes.filter((code) => code === "BELFRY_STORE_FORGOT").length
  /** Waits until an occurrence after now was performed. */
  const continues = async () => {
    const now = Date.now()
    await until(() => newest > now, `${owner} continues`)
  }
  return { scheduler, performed, errorCodes, forgotten, continues, lines }
}

/** A store that counts reads of schedules by id, with which a scheduler polls for its own, and can hold them back. */
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
    /** Waits for two reads: the first may have begun before. */
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

/** Copies the append-only files. The returned function writes the copies back into the same files. */
function copyOfFiles({ folder }: RedisServer): () => void {
  const files = readdirSync(join(folder, "appendonlydir")).map((name) => join(folder, "appendonlydir", name))
  const copies = files.map((file) => readFileSync(file))
  return () => {
    for (const [index, file] of files.entries()) writeFileSync(file, copies[index]!)
  }
}

describe("a scheduler on a server", () => {
  test("that was restarted without its data reports the loss, stores its schedules again, and continues", async () => {
    const { server, client } = await aServer()
    const all = [
      await aScheduler(aStore(server.url), "first"),
      await aScheduler(aStore(server.url), "second"),
    ]
    await Promise.all(all.map(({ continues }) => continues()))
    const version = Number(await client.get(VERSIONS))

    await server.restart()

    await until(() => all.every(({ forgotten }) => forgotten() > 0), "each gets the error")
    await Promise.all(all.map(({ continues }) => continues()))
    assert.deepEqual(
      (await all[0]!.scheduler.schedules.list()).items.map(({ id }) => id),
      ["first", "second"],
    )
    for (const { forgotten, lines } of all) {
      assert.equal(forgotten(), 1, "each gets the error once")
      const logged = lines.filter(({ code }) => code === "BELFRY_STORE_FORGOT")
      assert.deepEqual(
        logged.map(({ level }) => level),
        ["error"],
      )
      assert.match(logged[0]!.message, /has lost confirmed writes/)
    }
    // The version is raised by a million above what the first process to notice has seen, which may be less than it was.
    assert.ok(Number(await client.get(VERSIONS)) > version + 900_000, "no version is given out again")
  })

  test("that was restarted without its data stores a paused schedule as paused again", async () => {
    const { server, client } = await aServer()
    const { store, readAgain, hold, letGo } = withWatchedReads(aStore(server.url))
    const [paused, other] = [
      await aScheduler(store, "paused", "200ms"),
      await aScheduler(aStore(server.url), "other"),
    ]
    await paused.scheduler.schedules.pause("paused", { reason: "for now" })
    await readAgain()
    // A scheduler that reads twice before it learns of the loss takes the schedule for deleted. Here it polls unusually often.
    hold()

    await server.restart()
    await until(() => paused.forgotten() > 0, "it gets the error")
    letGo()
    await until(async () => (await client.hexists("{belfry}:schedules:paused", "task")) === 1, "it is back")
    await other.continues()

    const found = await paused.scheduler.schedules.get("paused")
    assert.equal(found?.paused?.reason, "for now")
  })

  test("that went back to an older copy reports the loss, and creates the lost runs again, with the same ids", async () => {
    const { server } = await aServer({ isKept: true })
    const { scheduler, performed, continues, forgotten } = await aScheduler(aStore(server.url))
    await continues()
    const putBack = copyOfFiles(server)
    const kept = performed.length
    await continues()
    await continues()

    await server.kill()
    const lost = performed.slice(kept)
    putBack()
    await server.restart()

    await until(() => forgotten() > 0, "it gets the error")
    const again = () => performed.slice(kept + lost.length)
    await until(() => lost.every((id) => again().includes(id)), "the lost runs are created again")
    await continues()
    assert.equal(forgotten(), 1)
    const runs = (await scheduler.runs.list({ limit: 100 })).items
    const seconds = runs.map((run) => run.scheduledFor!.getTime() / 1_000).sort((a, b) => a - b)
    assert.deepEqual(
      seconds,
      seconds.map((_, index) => seconds[0]! + index),
      "each second has exactly one run",
    )
  })

  test("that was restarted with all its data reports no loss", async () => {
    const { server, client } = await aServer({ isKept: true })
    const { continues, forgotten } = await aScheduler(aStore(server.url))
    await continues()
    const mark = await client.hget("{belfry}:schema", "mark")

    for (const down of [() => server.kill(), async () => undefined]) {
      await down()
      await server.restart()
      await continues()
    }

    assert.equal(forgotten(), 0)
    assert.equal(await client.hget("{belfry}:schema", "mark"), mark)
  })

  test("that is out of memory reports it, and continues when there is memory", async () => {
    const { server, client } = await aServer()
    const { scheduler, continues, errorCodes, forgotten } = await aScheduler(aStore(server.url))
    await continues()

    await client.config("SET", "maxmemory", "1mb")
    await until(() => errorCodes.includes("BELFRY_STORE_FULL"), "it gets the error")
    await rejectsWith("BELFRY_STORE_FULL", scheduler.enqueue("one"), /out of memory/)
    await client.config("SET", "maxmemory", "0")

    await continues()
    assert.equal(forgotten(), 0)
  })
})
