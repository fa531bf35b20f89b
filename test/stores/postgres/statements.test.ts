import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { createScheduler, defineTask, type SchedulerOptions, silentLogger } from "belfry"
import { postgres } from "belfry/postgres"
import pg from "pg"
import { beforeEach, test, vi } from "vitest"
import { several } from "../../../src/store/laws/steps.ts"
import { freshDatabase } from "../../support/fresh-database.ts"
import { atTheEnd, until } from "./scratch.ts"

/** How much a process asks of the server, counted where it is sent: on every connection, the reserved one too. */

let url: string
let performed: string[]
const statements: string[] = []

const report = defineTask({ name: "report", run: ({ run }) => void performed.push(run.id) })

beforeEach(async () => {
  url = await freshDatabase()
  performed = []
  const query = pg.Client.prototype.query as (...given: unknown[]) => unknown
  const spy = vi.spyOn(pg.Client.prototype, "query")
  spy.mockImplementation(function (this: pg.Client, ...given: unknown[]) {
    statements.push(wordsOf(given[0]))
    return query.apply(this, given)
  } as never)
  atTheEnd(() => spy.mockRestore())
})

test("a quiet process with a hundred schedules asks nothing between two polls, of which there is one a minute", async () => {
  await started({ schedules: aHundred() })
  await settled()
  statements.length = 0

  await sleep(2_000)

  assert.deepEqual(statements, [])
})

test("a quiet process with a hundred schedules asks four things at a poll", async () => {
  await started({ schedules: aHundred(), pollInterval: "200ms" })
  // Three connections rehearse, and that is the last of it: there is no other change here.
  await until(() => statements.filter((each) => each === "belfry.change").length === 3)
  statements.length = 0

  await sleep(2_000)

  const kinds = [...new Set(statements)].sort()
  assert.deepEqual(kinds, ["belfry.claim", "belfry.due", "belfry.extend", "belfry.schedules"])
  // Ten polls, less if the machine is busy; the first and the last may not be whole.
  assert.ok(statements.length >= 5 * 4 && statements.length <= 11 * 4, `${statements.length} statements`)
})

// Ten, and a few more if the runs end one after another: looks that find nothing are among them, after each hint and end.
test.each([
  { count: 1, most: 12 },
  { count: 50, most: 20 },
])("$count occurrences of one instant and their runs take at most $most", async ({ count, most }) => {
  const cron = dailyAt(new Date(Date.now() + 5_000))
  const schedules = several(count, (n) => report.schedule(`s${n}`, { cron }))
  await started({ pollInterval: "1h", concurrency: count, schedules })
  await settled()
  statements.length = 0

  await until(() => performed.length === count)
  await settled()

  const sent = (name: string) => statements.filter((each) => each === name).length
  assert.ok(statements.length <= most, `${statements.length}: ${statements.join(", ")}`)
  assert.equal(sent("belfry.fire"), 1)
  assert.equal(sent("belfry.due"), 1, "a fire is no news for those who fire")
})

function dailyAt(instant: Date): string {
  return `${instant.getUTCSeconds()} ${instant.getUTCMinutes()} ${instant.getUTCHours()} * * *`
}

function aHundred() {
  return several(100, (n) => report.schedule(`s${n}`, { cron: "0 3 1 1 *" }))
}

async function started(options: Partial<SchedulerOptions>): Promise<void> {
  const scheduler = createScheduler({
    store: postgres(url),
    tasks: [report],
    logger: silentLogger,
    ...options,
  })
  await scheduler.start()
  atTheEnd(() => scheduler.stop())
}

/** Nothing was asked for a while. */
async function settled(): Promise<void> {
  let before = -1
  while (before !== statements.length) {
    before = statements.length
    await sleep(200)
  }
}

/** The function it calls, or the first table it names. */
function wordsOf(query: unknown): string {
  const text = typeof query === "string" ? query : (query as { text: string }).text
  return text.match(/belfry\.\w+(?=\()|pg_notify/)?.[0] ?? text.match(/belfry\.\w+/)?.[0] ?? text
}
