import { createScheduler, defineTask, type Scheduler, silentLogger } from "belfry"
import type { PostgresStore } from "belfry/postgres"
import pg from "pg"
import * as z from "zod"
import { defineSchedule, newSchedule } from "../../../src/core/options/definition.ts"
import type { ScheduleOptions } from "../../../src/core/options/options.ts"
import { planFire } from "../../../src/core/planning/fire.ts"
import type { NewSchedule, Schedule } from "../../../src/core/schedule/schedule.ts"
import { plannedBy } from "../../../src/engine/facts.ts"
import { offerPlans } from "../../../src/engine/offering.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { makeStore } from "./scratch.ts"

/** Performs the same operation through the API and through SQL on the same schedule, and returns the state of the database. */

const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** The last occurrence of `DAILY`, about twelve hours ago. The next is in about twelve hours. */
export const NOON = Math.floor(Date.now() / HOUR) * HOUR - 12 * HOUR
export const DAILY = `0 ${new Date(NOON).getUTCHours()} * * *`

export interface Situation {
  readonly options?: ScheduleOptions
  /** The times of the schedule. Default: a daily cron. */
  readonly times?: ScheduleOptions
  readonly progress?: Partial<NewSchedule>
}

export interface Operation {
  api(scheduler: Scheduler): Promise<unknown>
  /** Statements that are run in order, with no fire in between. */
  readonly sql: readonly string[]
}

/** A daily schedule "x", created ten days ago and settled up to its last occurrence. */
export function scheduleIn({ options = {}, times = { cron: DAILY }, progress = {} }: Situation): NewSchedule {
  const about = { id: "x", task: "report", payload: [1], owner: null, release: 0, now: null }
  const definition = defineSchedule({ ...times, ...options }, about)
  const made = newSchedule("x", definition, NOON - 10 * DAY)
  return { ...made, coveredUntil: NOON, nextRunAt: NOON + DAY, ...progress }
}

export interface Result {
  /** The schedule as the API shows it, before anything is fired. */
  readonly shown: object | null
  readonly schedule: object | null
  readonly runs: readonly object[]
  readonly isUnstorable: boolean
}

/** A store on its own database, and a plain connection to it. */
export interface OpenSqlHarness {
  readonly store: PostgresStore
  readonly psql: pg.Client
  readonly harness: SqlHarness
  /** Opens another plain connection. */
  connect(): Promise<pg.Client>
  close(): Promise<unknown>
}

/** Shared by the tests of a file. Open it in `beforeAll`, and return `close` from there. */
export async function openSqlHarness(): Promise<OpenSqlHarness> {
  const url = await migratedDatabase()
  const store = makeStore(url)
  await store.open()
  const clients: pg.Client[] = []
  const connect = async () => {
    const client = new pg.Client(url)
    clients.push(client)
    await client.connect()
    return client
  }
  const psql = await connect()
  const close = () => Promise.all([store.close(), ...clients.map((client) => client.end())])
  return { store, psql, harness: new SqlHarness(store, psql), connect, close }
}

export class SqlHarness {
  readonly #store: PostgresStore
  readonly #psql: pg.Client
  readonly #scheduler: Scheduler

  constructor(store: PostgresStore, psql: pg.Client) {
    this.#store = store
    this.#psql = psql
    const task = defineTask({ name: "report", payload: z.any(), run: () => undefined })
    // Never started, so that only the test itself fires schedules.
    this.#scheduler = createScheduler({ store, tasks: [task], logger: silentLogger })
  }

  byApi(situation: Situation | null, { api }: Operation): Promise<Result> {
    return this.#perform(situation, () => api(this.#scheduler))
  }

  bySql(situation: Situation | null, { sql }: Operation): Promise<Result> {
    return this.#perform(situation, async () => {
      for (const statement of sql) await this.#psql.query(statement)
    })
  }

  /** Fires all due schedules, like a process. */
  async fireDue(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) {
      const { due, now } = await this.#store.dueSchedules({ limit: 100 })
      if (due.length === 0) return
      for (const { schedule, facts } of due) {
        const plan = await plannedBy(this.#store, schedule, facts, (known) => planFire(schedule, known, now))
        await offerPlans(this.#store, [plan])
      }
    }
    throw new Error("Schedules are still due after 20 rounds")
  }

  async #shown(): Promise<object | null> {
    const { schedules } = this.#scheduler
    const schedule = await schedules.get("x")
    if (schedule === null) return null
    const { when, nextRunAt, paused, overrides, finishedAt, lastError } = schedule
    const preview = await schedules.preview("x", 4)
    const instant = (at: Date | null) => at?.getTime() ?? null
    return {
      ...{
        when,
        paused: paused?.reason,
        overrides: overrides.length,
        isFinished: finishedAt !== null,
        lastError,
      },
      nextRunAt: instant(nextRunAt),
      preview: preview.map(({ dueAt, isSkipped }) => [instant(dueAt), isSkipped]),
    }
  }

  async #perform(situation: Situation | null, work: () => Promise<unknown>): Promise<Result> {
    // For so few rows, delete takes a tenth of the time of truncate.
    await this.#psql.query("delete from belfry.schedules; delete from belfry.runs")
    if (situation !== null) await this.#store.putSchedule(scheduleIn(situation), null)
    const startedAt = await this.#store.now()
    const isUnstorable = await work().then(
      () => false,
      () => true,
    )
    const shown = await this.#shown()
    await this.fireDue()
    const endedAt = await this.#store.now()
    const [schedule] = await this.#store.findSchedules({}, { orderBy: "id", after: null, limit: 1 })
    const runs = await this.#store.findRuns({}, { orderBy: "createdAt", after: null, limit: 1_000 })
    const comparable = (record: object) => comparableOf(record, startedAt, endedAt)
    return {
      isUnstorable,
      shown: shown === null ? null : comparable(shown),
      schedule: schedule === undefined ? null : comparable(schedule),
      runs: runs.map(comparable).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    }
  }
}

/** Replaces instants of the operation itself by "now", because the two operations happen at different times. */
function comparableOf(record: object, startedAt: number, endedAt: number): object {
  const { version: _, updatedAt: __, revision: ___, ...rest } = record as Schedule
  return JSON.parse(JSON.stringify(rest), (_key, value: unknown) => {
    if (typeof value === "number" && value >= startedAt && value <= endedAt + 1) return "now"
    return typeof value === "string" ? value.replace(/\+[0-9a-f-]{36}$/, "+…") : value
  }) as object
}
