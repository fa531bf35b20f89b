import assert from "node:assert/strict"
import type { Json } from "belfry"
import { type SqlFunctionsOptions, type SqlTask, sqlFunctions } from "belfry/postgres"
import pg from "pg"
import { afterAll, beforeAll, onTestFinished } from "vitest"
import type { RunInfo } from "../../../src/task/task-context.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { performTask } from "../../support/task-run.ts"
import { ManualClock } from "./manual-clock.ts"

type Options = Partial<SqlFunctionsOptions>

/** Calls functions of a database through the task `sql`. */
export interface SqlCaller {
  url: string
  psql: pg.Client
  /** Creates a PL/pgSQL function in the schema `app`. */
  define(head: string, body: string): Promise<void>
  /** A task that is closed when the test ends. */
  task(options?: Options): SqlTask
  call(payload: Json, options?: Options, run?: Partial<RunInfo>): Promise<Called>
  failureOf(payload: Json, options?: Options): Promise<string>
  /** The rows that functions have written. */
  seen(): Promise<readonly { id: string; note: string | null }[]>
}

type Called = Awaited<ReturnType<typeof performTask>["ended"]> & { lines: readonly string[] }

/** Shared by the tests of a file. */
export function anSqlCaller(): SqlCaller {
  const self: SqlCaller = {
    url: "",
    psql: null as never,
    async define(head, body) {
      await self.psql.query(
        `create or replace function app.${head} language plpgsql as $body$ begin ${body} end $body$`,
      )
    },
    task(options = {}) {
      // With a manual clock no statement times out on a busy machine.
      const task = sqlFunctions({ url: self.url, schemas: ["app"], clock: new ManualClock(), ...options })
      onTestFinished(() => task.close())
      return task
    },
    async call(payload, options = {}, run = {}) {
      const task = self.task(options)
      const { ended, lines } = performTask(task, payload, { run })
      try {
        return { ...(await ended), lines }
      } finally {
        await task.close()
      }
    },
    async failureOf(payload, options = {}) {
      const { success, message } = await self.call(payload, options)
      assert.equal(success, false, message)
      return message
    },
    seen: async () => (await self.psql.query("select id, note from app.seen order by id")).rows,
  }

  beforeAll(async () => {
    self.url = await migratedDatabase()
    self.psql = new pg.Client(self.url)
    await self.psql.connect()
    await self.psql.query(
      "create schema app; create schema other; create table app.seen (id text primary key, note text)",
    )
  })
  afterAll(() => self.psql?.end())

  return self
}
