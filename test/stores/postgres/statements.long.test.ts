import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { createScheduler, defineTask, type SchedulerOptions, silentLogger } from "belfry"
import { beforeEach, test } from "vitest"
import { several } from "../../../src/store/laws/steps.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { aStore, atTheEnd, until } from "./scratch.ts"
import { collectStatements, dailyAt } from "./statement-count.ts"

/** How many statements a process sends, in real time. */

let url: string
let performed: string[]
let statements: string[]

const report = defineTask({ name: "report", run: ({ run }) => void performed.push(run.id) })

beforeEach(async () => {
  url = await migratedDatabase()
  performed = []
  statements = collectStatements()
})

test("an idle process with a hundred schedules sends four statements at each poll, and no others", async () => {
  await started({ schedules: several(100, (n) => report.schedule(`s${n}`, { cron: "0 3 29 2 *" })) })
  await until(() => statements.filter((each) => each === "belfry.extend").length >= 2)
  await sleep(2_000)
  statements.length = 0

  await sleep(10_000)

  const kinds = [...new Set(statements)].sort()
  assert.deepEqual(kinds, ["belfry.claim", "belfry.due", "belfry.extend", "belfry.schedules"])
  // Ten polls, or fewer on a busy machine. The first and the last may be incomplete.
  assert.ok(statements.length >= 4 * 4 && statements.length <= 11 * 4, `${statements.length} statements`)
})

// Ten, and a few more if the runs end one after another. Some find nothing: they follow each hint and each end.
test.each([
  { count: 1, most: 12 },
  { count: 50, most: 20 },
])(
  "$count occurrences of one instant and their runs take at most $most statements",
  async ({ count, most }) => {
    const cron = dailyAt(new Date(Date.now() + 10_000))
    const schedules = several(count, (n) => report.schedule(`s${n}`, { cron }))
    await started({ pollInterval: "1h", concurrency: count, schedules })
    await settled()
    statements.length = 0

    await until(() => performed.length === count)
    await settled()

    const sent = (name: string) => statements.filter((each) => each === name).length
    assert.ok(statements.length <= most, `${statements.length}: ${statements.join(", ")}`)
    assert.equal(sent("belfry.fire"), 1)
    assert.equal(sent("belfry.due"), 1, "a fire causes no further read of due schedules")
  },
)

async function started(options: Partial<SchedulerOptions>): Promise<void> {
  const scheduler = createScheduler({
    store: aStore(url),
    tasks: [report],
    logger: silentLogger,
    pollInterval: "1s",
    ...options,
  })
  await scheduler.start()
  atTheEnd(() => scheduler.stop())
}

/** Waits until no statement was sent for a second. */
async function settled(): Promise<void> {
  let before = -1
  while (before !== statements.length) {
    before = statements.length
    await sleep(1_000)
  }
}
