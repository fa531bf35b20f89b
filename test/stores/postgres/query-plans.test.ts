import assert from "node:assert/strict"
import type pg from "pg"
import { afterAll, beforeAll, describe, test } from "vitest"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { connected } from "../../support/postgres.ts"
import { anExplainedStore, type ExplainedStore } from "./explained.ts"
import { type Asked, BY_LOOPS, NOW_AND_THEN } from "./plan-cases.ts"
import { FILL } from "./plan-data.ts"

/**
 * What every statement of the store reads, as the server tells it while it performs it: a few rows, each found by an index.
 * The connection has its plans from when the tables were empty, which is how a process begins on a new database.
 */

const TABLES = ["schedules", "runs", "logs", "workers", "journal", "statistics"].map(
  (table) => `belfry.${table}`,
)

let psql: pg.Client & AsyncDisposable
let reader: pg.Client & AsyncDisposable
let explained: ExplainedStore

beforeAll(async () => {
  const url = await migratedDatabase()
  psql = await connected(url)
  reader = await connected(url)
  // Else it is left to chance when the server learns how full the tables are.
  for (const table of TABLES) await psql.query(`alter table ${table} set (autovacuum_enabled = off)`)
  explained = await anExplainedStore(url)
  // Often enough for PostgreSQL to settle on a plan.
  for (let times = 0; times < 7; times++) {
    for (const { given, call } of BY_LOOPS) await call(explained.store, await given?.(explained.store))
  }
  await psql.query(`truncate ${TABLES}`)
  await psql.query(FILL)
  // Somebody reads for long, as the server's own statistics do: rows that were changed or deleted stay in the indexes.
  await reader.query("begin isolation level repeatable read")
  await reader.query("select from belfry.runs limit 1")
})
afterAll(async () => {
  await explained?.close()
  await reader?.end()
  await psql?.end()
})

describe("with plans made while the tables were empty, by an index and in few rows:", () => {
  test.each(BY_LOOPS)("$what", proveFew)
})

describe("with plans made for full tables, by an index and in few rows:", () => {
  beforeAll(async () => {
    // From all rows, not from a sample of them, which is drawn by chance. But a sample of the usual size finds fewer schedules
    // among the runs than there are, and so do we.
    await psql.query("set default_statistics_target = 1000")
    await psql.query("alter table belfry.runs alter column schedule_id set (n_distinct = -0.31)")
    await psql.query(`analyze ${TABLES}`)
  })

  test.each([...BY_LOOPS, ...NOW_AND_THEN])("$what", proveFew)
})

async function proveFew({ most, indexes, given, call }: Asked): Promise<void> {
  const { store } = explained
  const before = await given?.(store)

  const { looks: found, busiest } = await explained.explain(() => call(store, before))

  // Workers are few: the server reads all of them rather than an index.
  const looks = found.filter(({ table }) => !["workers", "migrations"].includes(table))
  const whole = looks.filter(({ index }) => index === null)
  assert.deepEqual(whole, [], "nothing is read from one end to the other")
  const useful = looks.filter(({ rows }) => rows > 0)
  const others = useful.filter(({ index }) => indexes?.includes(index!) === false)
  assert.deepEqual(others, [], "by no other index")
  assert.ok(Math.max(0, ...useful.map(({ rows }) => rows)) <= most, JSON.stringify(useful))
  assert.ok(busiest <= 3 * most + 10, `one step goes through ${busiest} rows`)
}
