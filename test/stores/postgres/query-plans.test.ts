import assert from "node:assert/strict"
import type pg from "pg"
import { afterAll, beforeAll, describe, test } from "vitest"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { connected } from "../../support/postgres.ts"
import { anExplainedStore, type ExplainedStore } from "./explained.ts"
import { BY_LOOPS, OCCASIONAL, type PlanCase } from "./plan-cases.ts"
import { FILL_BUSY, FILL_IDLE } from "./plan-data.ts"

/**
 * Every statement of the store reads few rows, each by an index, as the plans of the server report. A connection keeps the plans
 * of the functions, so the functions are called before the data is there: like a process that starts on a new database, or
 * while nothing is due.
 */

const TABLES = ["schedules", "runs", "logs", "workers", "journal", "statistics"].map(
  (table) => `belfry.${table}`,
)

let psql: pg.Client & AsyncDisposable
let reader: pg.Client & AsyncDisposable
let explained: ExplainedStore

/** Makes the plans of the functions between the two fills. */
async function plannedBetween(before: readonly string[], after: readonly string[]): Promise<void> {
  const url = await migratedDatabase()
  psql = await connected(url)
  reader = await connected(url)
  // Autovacuum would update the server's statistics at a random time.
  for (const table of TABLES) await psql.query(`alter table ${table} set (autovacuum_enabled = off)`)
  for (const text of before) await psql.query(text)
  explained = await anExplainedStore(url)
  // PostgreSQL decides for or against a generic plan after five executions.
  for (let times = 0; times < 7; times++) {
    for (const { prepare, call } of BY_LOOPS) await call(explained.store, await prepare?.(explained.store))
  }
  for (const text of after) await psql.query(text)
  // A long transaction, like the server's own ANALYZE: changed and deleted rows stay in the indexes.
  await reader.query("begin isolation level repeatable read")
  await reader.query("select from belfry.runs limit 1")
}

async function close(): Promise<void> {
  await explained?.close()
  await reader?.end()
  await psql?.end()
}

describe("with plans made for empty tables, few rows are read, all by an index:", () => {
  beforeAll(() => plannedBetween([], [FILL_IDLE, FILL_BUSY]))

  test.each(BY_LOOPS)("$what", assertFewRows)

  describe("and with plans made for full tables:", () => {
    beforeAll(async () => {
      // Statistics of all rows, because a sample would be random. A sample of the default size underestimates the number of
      // schedules among the runs, so that number is set to the underestimate.
      await psql.query("set default_statistics_target = 1000")
      await psql.query("alter table belfry.runs alter column schedule_id set (n_distinct = -0.31)")
      await psql.query(`analyze ${TABLES}`)
    })

    test.each([...BY_LOOPS, ...OCCASIONAL])("$what", assertFewRows)
  })

  afterAll(close)
})

describe("with plans made while no run was pending or running, few rows are read, all by an index:", () => {
  beforeAll(() => plannedBetween([FILL_IDLE, "vacuum analyze"], [FILL_BUSY]))

  test.each(BY_LOOPS)("$what", assertFewRows)

  afterAll(close)
})

async function assertFewRows({ maxRows, indexes, prepare, call }: PlanCase): Promise<void> {
  const { store } = explained
  const prepared = await prepare?.(store)

  const { reads: found, busiest } = await explained.explain(() => call(store, prepared))

  // There are few workers, so the server reads the whole table.
  const reads = found.filter(({ table }) => !["workers", "migrations"].includes(table))
  const whole = reads.filter(({ index }) => index === null)
  assert.deepEqual(whole, [], "no table is read completely")
  const useful = reads.filter(({ rows }) => rows > 0)
  const others = useful.filter(({ index }) => indexes?.includes(index!) === false)
  assert.deepEqual(others, [], "no other index is used")
  assert.ok(Math.max(0, ...useful.map(({ rows }) => rows)) <= maxRows, JSON.stringify(useful))
  assert.ok(busiest <= 3 * maxRows + 10, `one step processes ${busiest} rows`)
}
