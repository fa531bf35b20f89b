import assert from "node:assert/strict"
import { createScheduler, defineTask, type SchedulerOptions, silentLogger } from "belfry"
import type pg from "pg"
import { beforeEach, test } from "vitest"
import { several } from "../../../src/store/laws/steps.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { ManualClock } from "./manual-clock.ts"
import { aPsql, aStore, atTheEnd, until } from "./scratch.ts"
import { collectStatements, dailyAt } from "./statement-count.ts"

/** How many statements a process sends, on all its connections, including the reserved one. */

let url: string
let psql: pg.Client
let statements: string[]

beforeEach(async () => {
  url = await migratedDatabase()
  psql = await aPsql(url)
  statements = collectStatements([psql])
})

test("an idle process with a hundred schedules sends nothing between two polls, which are a minute apart", async () => {
  const { clock, untilIdle } = await started({ schedules: aHundredSchedules() })
  statements.length = 0

  clock.advance(59_999)
  await untilIdle()

  assert.deepEqual(statements, [])
})

test("an idle process with a hundred schedules sends four statements at a poll", async () => {
  const { clock, untilIdle } = await started({ schedules: aHundredSchedules() })
  statements.length = 0

  clock.advance(60_000)
  await untilIdle()

  assert.deepEqual(statements.sort(), ["belfry.claim", "belfry.due", "belfry.extend", "belfry.schedules"])
})

// Some statements find nothing: they follow each hint and each end.
test.each([
  { count: 1, most: 12 },
  { count: 50, most: 20 },
])(
  "$count occurrences of one instant and their runs take at most $most statements",
  async ({ count, most }) => {
    const { clock, untilIdle, dueAt } = await startedBefore(count)
    statements.length = 0

    await until(async () => (await storeNow()) >= dueAt)
    clock.advance(2 * LEAD_MAX_MS)
    await until(async () => (await succeeded()) === count)
    await untilIdle()

    const sent = (name: string) => statements.filter((each) => each === name).length
    assert.ok(statements.length <= most, `${statements.length}: ${statements.join(", ")}`)
    assert.equal(sent("belfry.fire"), 1)
    assert.equal(sent("belfry.due"), 1, "a fire causes no further read of due schedules")
  },
)

const report = defineTask({ name: "report", run: () => undefined })

function aHundredSchedules() {
  return several(100, (n) => report.schedule(`s${n}`, { cron: "0 3 29 2 *" }))
}

const LEAD_MAX_MS = 120_000

/** An idle process with schedules that will be due soon. If it became idle too late, another is started with more time. */
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
  return assert.fail("no process became idle in time")
}

interface Started {
  readonly clock: ManualClock
  /** Waits until the process has done all that it can without the clock being advanced. */
  untilIdle(): Promise<void>
  stop(): Promise<void>
}

async function started(options: Partial<SchedulerOptions>): Promise<Started> {
  const [clock, storeClock] = [new ManualClock(), new ManualClock()]
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
  const received: string[] = []
  await store.listen((hint) => received.push(hint))
  const isIdle = () => storeClock.pendingTimers === 0 && storeClock.hasNoPauses && clock.hasNoPauses
  const untilIdle = async () => {
    let before = -1
    while (before !== statements.length) {
      await until(isIdle)
      before = statements.length
      received.length = 0
      // The server delivers notifications in order. When this one has arrived, all earlier ones have too.
      await psql.query("select pg_notify('belfry', 'cancelled')")
      await until(() => received.includes("cancelled"))
      await until(isIdle)
    }
  }
  await untilIdle()
  return { clock, untilIdle, stop: () => scheduler.stop() }
}

async function storeNow(): Promise<number> {
  const { rows } = await psql.query("select extract(epoch from clock_timestamp()) * 1000 as now")
  return Number(rows[0].now)
}

async function succeeded(): Promise<number> {
  return (await psql.query("select from belfry.runs where state = 'succeeded'")).rowCount!
}
