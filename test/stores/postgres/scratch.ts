import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { BelfryError, type ErrorCode } from "belfry"
import type { PostgresStore } from "belfry/postgres"
import pg from "pg"
import { afterEach } from "vitest"
import { systemClock } from "../../../src/engine/clock.ts"
import { poolFor } from "../../../src/stores/postgres/own-pool.ts"
import { createPostgresStore } from "../../../src/stores/postgres/postgres-store.ts"

const closings: (() => unknown)[] = []

export interface StoreOptions {
  readonly schema?: string
  readonly deadlineMs?: number
  readonly connections?: number
}

/** As `postgres(url)` makes it, with a deadline of the test's own. It is closed when the test ends. */
export function aStore(url: string, options: StoreOptions = {}): PostgresStore {
  const { schema = "belfry", deadlineMs = 5_000, connections = 10 } = options
  const makePool = async () => ({ pool: await poolFor(url, connections, deadlineMs), isOurs: true })
  const store = createPostgresStore(
    makePool,
    { schema, deadlineMs, where: "the test's database" },
    systemClock,
  )
  closings.push(() => store.close())
  return store
}

export async function anOpenStore(url: string, options: StoreOptions = {}): Promise<PostgresStore> {
  const store = aStore(url, options)
  await store.open()
  return store
}

/** Another program on the same database, which knows nothing of Belfry. */
export async function aPsql(url: string): Promise<pg.Client> {
  const psql = new pg.Client(url)
  psql.on("error", () => undefined)
  await psql.connect()
  closings.push(() => psql.end())
  return psql
}

/** Done when the test ends, after what was made later. */
export function atTheEnd(close: () => unknown): void {
  closings.push(close)
}

afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close()
})

export async function rejectsWith(
  code: ErrorCode,
  work: Promise<unknown>,
  words = /(?:)/,
): Promise<BelfryError> {
  let thrown: unknown
  try {
    await work
  } catch (error) {
    thrown = error
  }
  assert.ok(thrown instanceof BelfryError, `${thrown ?? "Nothing"} is thrown`)
  assert.equal(thrown.code, code, thrown.message)
  assert.match(thrown.message, words)
  return thrown
}

export async function until(
  condition: () => boolean | Promise<boolean>,
  what = "it",
  withinMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > deadline) assert.fail(`${what} within ${withinMs / 1_000} s`)
    await sleep(25)
  }
}

/** How many connections the server has to this database, but for those who ask. */
export async function connectionsTo(psql: pg.Client): Promise<number> {
  const { rows } = await psql.query(
    "select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = 'belfry'",
  )
  return rows[0].count
}
