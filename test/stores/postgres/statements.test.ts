import assert from "node:assert/strict"
import { createScheduler, defineTask, type SchedulerOptions, silentLogger } from "belfry"
import type pg from "pg"
import { beforeEach, test } from "vitest"
import { several } from "../../../src/store/laws/steps.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { HandClock } from "./hand-clock.ts"
import { aPsql, aStore, atTheEnd, until } from "./scratch.ts"
import { countedStatements, dailyAt } from "./statement-count.ts"

/** How much a process asks of the server, counted where it is sent: on every connection, the reserved one too. */

let url: string
let psql: pg.Client
let statements: string[]

beforeEach(async () => {
  url = await migratedDatabase()
  psql = await aPsql(url)
  statements = countedStatements([psql])
})

test("a quiet process with a hundred schedules asks nothing between two polls, of which there is one a minute", async () => {
  const { clock, atRest } = await started({ schedules: aHundred() })
  statements.length = 0

  clock.advance(59_999)
  await atRest()

  assert.deepEqual(statements, [])
})

test("a quiet process with a hundred schedules asks four things at a poll", async () => {
  const { clock, atRest } = await started({ schedules: aHundred() })
  statements.length = 0

  clock.advance(60_000)
  await atRest()

  assert.deepEqual(statements.sort(), ["belfry.claim", "belfry.due", "belfry.extend", "belfry.schedules"])
})

// Looks that find nothing are among them, after each hint and each end.
test.each([
  { count: 1, most: 12 },
  { count: 50, most: 20 },
])("$count occurrences of one instant and their runs take at most $most", async ({ count, most }) => {
  const { clock, atRest, dueAt } = await startedBefore(count)
  statements.length = 0

  await until(async () => (await storeNow()) >= dueAt)
  clock.advance(2 * LEAD_MAX_MS)
  await until(async () => (await succeeded()) === count)
  await atRest()

  const sent = (name: string) => statements.filter((each) => each === name).length
  assert.ok(statements.length <= most, `${statements.length}: ${statements.join(", ")}`)
  assert.equal(sent("belfry.fire"), 1)
  assert.equal(sent("belfry.due"), 1, "a fire is no news for those who fire")
})

const report = defineTask({ name: "report", run: () => undefined })

function aHundred() {
  return several(100, (n) => report.schedule(`s${n}`, { cron: "0 3 29 2 *" }))
}

const LEAD_MAX_MS = 120_000

/** A process at rest with schedules that will be due soon. One that came to rest too late is given up for another. */
async function startedBefore(count: number): Promise<Started & { dueAt: number }> {
  for (let leadMs = 2_000; leadMs < LEAD_MAX_MS; leadMs *= 2) {
    const dueAt = Math.ceil((await storeNow()) / 1_000) * 1_000 + leadMs
    const cron = dailyAt(new Date(dueAt))
    const schedules = several(count, (n) => report.schedule(`s${n}`, { cron }))
    const process = await started({ pollInterval: "1h", concurrency: count, schedules })
    if ((await psql.query("select from belfry.runs")).rowCount === 0) return { ...process, dueAt }
    await process.stop()
    await psql.query("truncate belfry.schedules, belfry.runs")
  }
  return assert.fail("a process is at rest within a minute")
}

interface Started {
  readonly clock: HandClock
  /** Until it has done all that there is to do without the clock being moved. */
  atRest(): Promise<void>
  stop(): Promise<void>
}

async function started(options: Partial<SchedulerOptions>): Promise<Started> {
  const [clock, storeClock] = [new HandClock(), new HandClock()]
  const store = aStore(url, { clock: storeClock })
  const scheduler = createScheduler({
    store,
    clock,
    tasks: [report],
    logger: silentLogger,
    ...options,
  })
  await scheduler.start()
  atTheEnd(() => scheduler.stop())
  const heard: string[] = []
  await store.listen((hint) => heard.push(hint))
  const isQuiet = () => storeClock.held === 0 && storeClock.isWithoutPauses && clock.isWithoutPauses
  const atRest = async () => {
    let before = -1
    while (before !== statements.length) {
      await until(isQuiet)
      before = statements.length
      heard.length = 0
      // A server delivers hints in their order: when this one is here, so are all that were sent before it.
      await psql.query("select pg_notify('belfry', 'cancelled')")
      await until(() => heard.includes("cancelled"))
      await until(isQuiet)
    }
  }
  await atRest()
  return { clock, atRest, stop: () => scheduler.stop() }
}

async function storeNow(): Promise<number> {
  const { rows } = await psql.query("select extract(epoch from clock_timestamp()) * 1000 as now")
  return Number(rows[0].now)
}

async function succeeded(): Promise<number> {
  return (await psql.query("select from belfry.runs where state = 'succeeded'")).rowCount!
}
