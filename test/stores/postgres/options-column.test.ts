import assert from "node:assert/strict"
import { createScheduler, defineTask, type ScheduleView, silentLogger } from "belfry"
import type { PostgresStore } from "belfry/postgres"
import type pg from "pg"
import { beforeAll, beforeEach, describe, test } from "vitest"
import { DAILY, openSqlHarness, type SqlHarness } from "./sql-harness.ts"

/** The column `options` uses the names of `schedules.create`, whether Belfry or SQL wrote it. */

const MINUTE = 60_000

let store: PostgresStore
let psql: pg.Client
let harness: SqlHarness

beforeAll(async () => {
  const opened = await openSqlHarness()
  ;({ store, psql, harness } = opened)
  return opened.close
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
  return afterFiring()
}

/** The schedule after a process has fired what is due. */
async function afterFiring(): Promise<ScheduleView> {
  await harness.fireDue()
  return (await aScheduler().schedules.get("x"))!
}

async function update(changes: object): Promise<ScheduleView> {
  const { schedules } = aScheduler()
  const { revision } = (await schedules.get("x"))!
  return schedules.update("x", changes, { ifRevision: revision })
}

async function merged(options: object): Promise<ScheduleView> {
  await psql.query({
    text: "update belfry.schedules set options = options || $1 where id = 'x'",
    values: [options],
  })
  return afterFiring()
}

async function column(name = "options"): Promise<unknown> {
  const { rows } = await psql.query(`select ${name} as value from belfry.schedules`)
  return rows[0].value
}

describe("Belfry writes options in the form that a person would write", () => {
  test("after an edit through the API", async () => {
    await inserted({ timeout: "10m", catchUp: "none" })

    await update({ overlap: "queue" })

    assert.deepEqual(await column(), { timeout: "10m", catchUp: "none", overlap: "queue" })
  })

  test("for a schedule created through the API, without defaults", async () => {
    const { schedules } = aScheduler()
    await schedules.create("x", { task: "report", cron: DAILY })
    const usual = await column()

    await update({ retry: { attempts: 5 }, endsAt: "2100-01-01T00:00:00Z" })

    assert.deepEqual(usual, {})
    assert.deepEqual(await column(), { retry: { attempts: 5 }, endsAt: "2100-01-01T00:00:00Z" })
  })

  test("with the release of a declared schedule in its own column", async () => {
    const nightly = task.schedule("x", { cron: DAILY, timeout: "10m" })
    await aScheduler({ schedules: [nightly], owner: "shop", release: 7 }).reconcile()

    assert.deepEqual(await column(), { timeout: "10m" })
    assert.equal(await column("release"), "7")
  })
})

describe("options merged into a row by SQL take effect", () => {
  test.each([
    ["inserted", async () => void (await inserted({ timeout: "10m", overlap: "queue" }))],
    [
      "edited through the API",
      async () => {
        await inserted({ timeout: "10m" })
        await update({ overlap: "queue" })
      },
    ],
  ])("in a row that was %s", async (_, make) => {
    await make()

    const { timeoutMs, catchUp, overlap, lastError } = await merged({ timeout: "5m", catchUp: "none" })

    assert.equal(lastError, null)
    assert.deepEqual([timeoutMs, catchUp.policy, overlap.policy], [5 * MINUTE, "none", "queue"])
  })

  test("an option set to null is removed", async () => {
    await inserted({ timeout: "10m", overlap: "queue" })

    const { timeoutMs, overlap, lastError } = await merged({ timeout: null })

    assert.deepEqual([timeoutMs, overlap.policy, lastError], [null, "queue", null])
  })

  test("internal names such as timeoutMs are refused", async () => {
    const { lastError } = await inserted({ timeoutMs: 5 * MINUTE })

    assert.match(lastError!, /timeoutMs is not an option\. Did you mean timeout\? Its value is 300000\./)
  })
})

test("a schedule may depend on a schedule with the id options", async () => {
  await psql.query(`insert into belfry.schedules (id, task, cron) values ('options', 'report', '${DAILY}')`)

  const { lastError, dependsOn } = await inserted({ dependsOn: [{ schedule: "options", within: "1h" }] })

  assert.equal(lastError, null)
  assert.deepEqual(dependsOn, [{ scheduleId: "options", withinMs: 60 * MINUTE }])
})

describe("a row with an invalid option", () => {
  const INVALID = { overlp: "queue", timeout: "10m", catchUp: "none" }

  test("shows its timetable, uses its valid options, and names the invalid one", async () => {
    const { when, words, timeoutMs, catchUp, lastError, nextRunAt } = await inserted(INVALID)

    assert.equal(when, DAILY)
    assert.match(words, /^At \d\d:00 every day$/)
    assert.deepEqual([timeoutMs, catchUp.policy, nextRunAt], [10 * MINUTE, "none", null])
    assert.equal(lastError, 'options: overlp is not an option. Did you mean overlap? Its value is "queue".')
  })

  test("names each invalid option", async () => {
    const { lastError, maxRuns } = await inserted({ overlap: "sometimes", timeout: -1, maxRuns: 5 })

    assert.match(lastError!, /overlap is "sometimes"/)
    assert.match(lastError!, /timeout.* -1/)
    assert.equal(maxRuns, 5)
  })

  test.each([
    ["another cron", { cron: "@hourly" }],
    ["the correct option", { overlap: "queue" }],
    ["another invalid option", { overlq: null }],
    ["undefined for the invalid option", { overlp: undefined, description: "x" }],
  ])("is not repaired by %s: nothing changes, and the error names the invalid option", async (_, changes) => {
    await inserted(INVALID)

    await assert.rejects(update(changes), /overl[pq] is not an option/)

    assert.deepEqual([await column(), await column("cron")], [INVALID, DAILY])
  })

  test.each([
    [INVALID, { overlp: null }, { timeout: "10m", catchUp: "none" }],
    [INVALID, { overlp: null, overlap: "queue" }, { timeout: "10m", catchUp: "none", overlap: "queue" }],
    [{ overlap: "sometimes", timeout: "10m" }, { overlap: "queue" }, { overlap: "queue", timeout: "10m" }],
    [{ overlap: "sometimes", timeout: "10m" }, { overlap: null }, { timeout: "10m" }],
    // The time zone has its own column.
    [{ timezone: "Asia/Tokyo", timeout: "10m" }, { timezone: "Europe/Paris" }, { timeout: "10m" }],
    // Each of the two options is valid alone.
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
  ])("%j is repaired by %j, and keeps the other options", async (options, changes, repaired) => {
    assert.notEqual((await inserted(options)).lastError, null)

    const { lastError, nextRunAt } = await update(changes)

    assert.deepEqual([lastError, nextRunAt !== null, await column()], [null, true, repaired])
  })

  test("is repaired by SQL too", async () => {
    await inserted(INVALID)
    await psql.query("update belfry.schedules set options = options - 'overlp'")

    const { lastError, nextRunAt, timeoutMs } = await afterFiring()

    assert.deepEqual([lastError, nextRunAt !== null, timeoutMs], [null, true, 10 * MINUTE])
  })

  test("keeps an operator's overrides when it is repaired", async () => {
    await inserted({})
    await aScheduler().schedules.skip("x")
    await merged({ overlp: "queue" })

    const { overrides } = await update({ overlp: null })

    assert.equal(overrides.length, 1)
  })

  test("is not changed by a deploy that only updates the release", async () => {
    const nightly = task.schedule("x", { cron: DAILY })
    await aScheduler({ schedules: [nightly], owner: "shop", release: 7 }).reconcile()
    await merged(INVALID)
    await aScheduler({ schedules: [nightly], owner: "shop", release: 8 }).reconcile()

    assert.deepEqual([await column(), await column("release")], [INVALID, "8"])
  })

  test("gives a run triggered by SQL its valid options", async () => {
    await inserted(INVALID)
    await psql.query("select belfry.trigger('x')")

    const [run] = await store.findRuns({}, { orderBy: "createdAt", after: null, limit: 1 })

    assert.equal(run!.timeoutMs, 10 * MINUTE)
  })
})
