import assert from "node:assert/strict"
import { createScheduler, defineTask, type ScheduleView, silentLogger } from "belfry"
import type { PostgresStore } from "belfry/postgres"
import type pg from "pg"
import { beforeAll, beforeEach, describe, test } from "vitest"
import { DAILY, openBothDoors, type TwoDoors } from "./two-doors.ts"

/** The column `options` is in the words of `schedules.create`, whoever wrote it. */

const MINUTE = 60_000

let store: PostgresStore
let psql: pg.Client
let doors: TwoDoors

beforeAll(async () => {
  const both = await openBothDoors()
  ;({ store, psql, doors } = both)
  return both.close
})
beforeEach(() => psql.query("delete from belfry.schedules; delete from belfry.runs"))

const task = defineTask({ name: "report", run: () => undefined })
const aScheduler = (more: object = {}) =>
  createScheduler({ store, tasks: [task], logger: silentLogger, ...more })

async function inserted(options: object): Promise<ScheduleView> {
  await psql.query({
    text: "insert into belfry.schedules (id, task, cron, options) values ('x', 'report', $1, $2)",
    values: [DAILY, options],
  })
  return looked()
}

/** As a process finds it, once it has looked. */
async function looked(): Promise<ScheduleView> {
  await doors.look()
  return (await aScheduler().schedules.get("x"))!
}

async function update(changes: object): Promise<ScheduleView> {
  const { schedules } = aScheduler()
  const { revision } = (await schedules.get("x"))!
  return schedules.update("x", changes, { ifRevision: revision })
}

async function laidOver(options: object): Promise<ScheduleView> {
  await psql.query({
    text: "update belfry.schedules set options = options || $1 where id = 'x'",
    values: [options],
  })
  return looked()
}

async function column(name = "options"): Promise<unknown> {
  const { rows } = await psql.query(`select ${name} as value from belfry.schedules`)
  return rows[0].value
}

describe("what Belfry writes is what a person would", () => {
  test("after an edit through the API", async () => {
    await inserted({ timeout: "10m", catchUp: "none" })

    await update({ overlap: "queue" })

    assert.deepEqual(await column(), { timeout: "10m", catchUp: "none", overlap: "queue" })
  })

  test("of a schedule that was made through the API, with nothing that is as usual", async () => {
    const { schedules } = aScheduler()
    await schedules.create("x", { task: "report", cron: DAILY })
    const usual = await column()

    await update({ retry: { attempts: 5 }, endsAt: "2100-01-01T00:00:00Z" })

    assert.deepEqual(usual, {})
    assert.deepEqual(await column(), { retry: { attempts: 5 }, endsAt: "2100-01-01T00:00:00Z" })
  })

  test("what code declares has its release in a column of its own", async () => {
    const nightly = task.schedule("x", { cron: DAILY, timeout: "10m" })
    await aScheduler({ schedules: [nightly], owner: "shop", release: 7 }).reconcile()

    assert.deepEqual(await column(), { timeout: "10m" })
    assert.equal(await column("release"), "7")
  })
})

describe("options laid over what is there mean what they say", () => {
  test.each([
    ["inserted", async () => void (await inserted({ timeout: "10m", overlap: "queue" }))],
    [
      "edited through the API",
      async () => {
        await inserted({ timeout: "10m" })
        await update({ overlap: "queue" })
      },
    ],
  ])("of a row that was %s", async (_, make) => {
    await make()

    const { timeoutMs, catchUp, overlap, lastError } = await laidOver({ timeout: "5m", catchUp: "none" })

    assert.equal(lastError, null)
    assert.deepEqual([timeoutMs, catchUp.policy, overlap.policy], [5 * MINUTE, "none", "queue"])
  })

  test("null takes an option away", async () => {
    await inserted({ timeout: "10m", overlap: "queue" })

    const { timeoutMs, overlap, lastError } = await laidOver({ timeout: null })

    assert.deepEqual([timeoutMs, overlap.policy, lastError], [null, "queue", null])
  })

  test("the stored form isn't a second language", async () => {
    const { lastError } = await inserted({ timeoutMs: 5 * MINUTE })

    assert.match(lastError!, /timeoutMs is not an option\. Did you mean timeout\? Its value is 300000\./)
  })
})

test("a schedule may depend on one that is called options", async () => {
  await psql.query(`insert into belfry.schedules (id, task, cron) values ('options', 'report', '${DAILY}')`)

  const { lastError, dependsOn } = await inserted({ dependsOn: [{ schedule: "options", within: "1h" }] })

  assert.equal(lastError, null)
  assert.deepEqual(dependsOn, [{ scheduleId: "options", withinMs: 60 * MINUTE }])
})

describe("a row with an option that can't be read", () => {
  const LOSE = { overlp: "queue", timeout: "10m", catchUp: "none" }

  test("shows its timetable, keeps what can be read, and names what can't", async () => {
    const { when, words, timeoutMs, catchUp, lastError, nextRunAt } = await inserted(LOSE)

    assert.equal(when, DAILY)
    assert.match(words, /^At \d\d:00 every day$/)
    assert.deepEqual([timeoutMs, catchUp.policy, nextRunAt], [10 * MINUTE, "none", null])
    assert.equal(lastError, 'options: overlp is not an option. Did you mean overlap? Its value is "queue".')
  })

  test("names each of them", async () => {
    const { lastError, maxRuns } = await inserted({ overlap: "sometimes", timeout: -1, maxRuns: 5 })

    assert.match(lastError!, /overlap is "sometimes"/)
    assert.match(lastError!, /timeout.* -1/)
    assert.equal(maxRuns, 5)
  })

  test.each([
    ["another cron", { cron: "@hourly" }],
    ["the option that was meant", { overlap: "queue" }],
    ["another option that isn't one", { overlq: null }],
    ["nothing but a name", { overlp: undefined, description: "x" }],
  ])("isn't mended by %s: nothing is changed, and what is wrong is named", async (_, changes) => {
    await inserted(LOSE)

    await assert.rejects(update(changes), /overl[pq] is not an option/)

    assert.deepEqual([await column(), await column("cron")], [LOSE, DAILY])
  })

  test.each([
    [LOSE, { overlp: null }, { timeout: "10m", catchUp: "none" }],
    [LOSE, { overlp: null, overlap: "queue" }, { timeout: "10m", catchUp: "none", overlap: "queue" }],
    [{ overlap: "sometimes", timeout: "10m" }, { overlap: "queue" }, { overlap: "queue", timeout: "10m" }],
    [{ overlap: "sometimes", timeout: "10m" }, { overlap: null }, { timeout: "10m" }],
    // It has a column of its own.
    [{ timezone: "Asia/Tokyo", timeout: "10m" }, { timezone: "Europe/Paris" }, { timeout: "10m" }],
    // Neither is wrong by itself.
    [
      { catchUp: "all", timeout: "10m" },
      { overlap: "queue" },
      { catchUp: "all", overlap: "queue", timeout: "10m" },
    ],
    [
      { startsAt: "2100-01-01T00:00:00Z", endsAt: "2099-01-01T00:00:00Z" },
      { endsAt: "2101-01-01T00:00:00Z" },
      { startsAt: "2100-01-01T00:00:00Z", endsAt: "2101-01-01T00:00:00Z" },
    ],
  ])("%j is mended by %j, and keeps the rest", async (options, changes, mended) => {
    assert.notEqual((await inserted(options)).lastError, null)

    const { lastError, nextRunAt } = await update(changes)

    assert.deepEqual([lastError, nextRunAt !== null, await column()], [null, true, mended])
  })

  test("is mended by SQL, too", async () => {
    await inserted(LOSE)
    await psql.query("update belfry.schedules set options = options - 'overlp'")

    const { lastError, nextRunAt, timeoutMs } = await looked()

    assert.deepEqual([lastError, nextRunAt !== null, timeoutMs], [null, true, 10 * MINUTE])
  })

  test("keeps what an operator said of its occurrences", async () => {
    await inserted({})
    await aScheduler().schedules.skip("x")
    await laidOver({ overlp: "queue" })

    const { overrides } = await update({ overlp: null })

    assert.equal(overrides.length, 1)
  })

  test("is left as it is by a deploy that only notes its release", async () => {
    const nightly = task.schedule("x", { cron: DAILY })
    await aScheduler({ schedules: [nightly], owner: "shop", release: 7 }).reconcile()
    await laidOver(LOSE)
    await aScheduler({ schedules: [nightly], owner: "shop", release: 8 }).reconcile()

    assert.deepEqual([await column(), await column("release")], [LOSE, "8"])
  })

  test("gives a run that is triggered by SQL what can be read", async () => {
    await inserted(LOSE)
    await psql.query("select belfry.trigger('x')")

    const [run] = await store.findRuns({}, { orderBy: "createdAt", after: null, limit: 1 })

    assert.equal(run!.timeoutMs, 10 * MINUTE)
  })
})
