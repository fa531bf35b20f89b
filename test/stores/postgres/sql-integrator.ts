import assert from "node:assert/strict"
import { createScheduler, defineTask, type Scheduler } from "belfry"
import pg from "pg"
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest"
import { type CollectedLine, collectedLog } from "../../support/collected-log.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { aStore, until } from "./scratch.ts"

// biome-ignore lint/suspicious/noExplicitAny: rows are whatever the statement says
export type Row = Record<string, any>

/** A user who only has SQL, and a Belfry process on the same database. */
export interface Integrator {
  url: string
  scheduler: Scheduler
  performed: { id: string; payload: unknown }[]
  logged: readonly CollectedLine[]
  sql(text: string): Promise<readonly Row[]>
  /** The first row of the statement, once there is one. */
  rowOf(text: string): Promise<Row>
  untilPerformed(count: number): Promise<void>
  /** Another process, after the first was stopped. */
  startAnother(): Promise<void>
}

/** Due once a day, twelve hours from now, so that it does not fire during a test. */
export const DAILY = (() => {
  const far = new Date(Date.now() + 12 * 3_600_000)
  return `${far.getUTCMinutes()} ${far.getUTCHours()} * * *`
})()

/** Shared by the tests of a file. They share the database, and each test has its own Belfry process. */
export function anIntegrator(): Integrator {
  let psql: pg.Client
  const self: Integrator = {
    url: "",
    scheduler: null as never,
    performed: [],
    logged: [],
    sql: async (text) => (await psql.query<Row>(text)).rows,
    async rowOf(text) {
      let row: Row | undefined
      await until(async () => {
        row = (await self.sql(text))[0]
        return row !== undefined
      }, text)
      return row ?? assert.fail()
    },
    startAnother: () => start(),
    untilPerformed: (count) => until(() => self.performed.length >= count, `${count} runs are performed`),
  }

  beforeAll(async () => {
    self.url = await migratedDatabase()
    psql = new pg.Client(self.url)
    await psql.connect()
  })
  afterAll(() => psql?.end())

  beforeEach(async () => {
    await self.sql("truncate belfry.schedules, belfry.runs, belfry.logs, belfry.workers")
    self.performed = []
    await start()
  })
  afterEach(() => self.scheduler.stop())

  async function start(): Promise<void> {
    const log = collectedLog()
    self.logged = log.lines
    const report = defineTask({
      name: "report",
      run: ({ run, payload }) => {
        self.performed.push({ id: run.id, payload })
        return { success: true, message: "Sent", details: { pages: 3 } }
      },
    })
    // The poll interval is so long that every reaction is to a hint.
    const options = { tasks: [report], pollInterval: "1h", logger: log.logger } as const
    self.scheduler = createScheduler({ ...options, store: aStore(self.url) })
    await self.scheduler.start()
  }

  return self
}
