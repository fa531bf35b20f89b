import { createScheduler, defineTask, type Scheduler, silentLogger } from "belfry"
import type { PostgresStore } from "belfry/postgres"
import pg from "pg"
import * as z from "zod"
import { defineSchedule, newSchedule } from "../../../src/core/definition.ts"
import { planFire } from "../../../src/core/fire.ts"
import type { ScheduleOptions } from "../../../src/core/options.ts"
import { cancelsOf } from "../../../src/core/plan.ts"
import type { Schedule } from "../../../src/core/schedule.ts"
import { plannedBy } from "../../../src/engine/facts.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { makeStore } from "./scratch.ts"

/** The same thing done by the API and by SQL, on the same schedule, and what is in the database then. */

const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** Whatever the time is, the last occurrence was about twelve hours ago and the next comes in about twelve. */
export const NOON = Math.floor(Date.now() / HOUR) * HOUR - 12 * HOUR
export const DAILY = `0 ${new Date(NOON).getUTCHours()} * * *`

export interface Situation {
  readonly options?: ScheduleOptions
  /** Instead of a daily cron. */
  readonly times?: ScheduleOptions
  readonly progress?: Partial<Schedule>
}

export interface Operation {
  api(scheduler: Scheduler): Promise<unknown>
  /** One after the other, nobody looking in between. */
  readonly sql: readonly string[]
}

/** A daily schedule "x", made ten days ago and settled up to its last occurrence. */
export function scheduleIn({ options = {}, times = { cron: DAILY }, progress = {} }: Situation): Schedule {
  const about = { id: "x", task: "report", payload: [1], owner: null, release: 0, now: null }
  const definition = defineSchedule({ ...times, ...options }, about)
  const made = newSchedule("x", definition, NOON - 10 * DAY)
  return { ...made, coveredUntil: NOON, nextRunAt: NOON + DAY, ...progress }
}

export interface Done {
  /** What is shown of it, before anybody has looked. */
  readonly shown: object | null
  readonly schedule: object | null
  readonly runs: readonly object[]
  readonly isRefused: boolean
}

/** A store on a database of its own, and another program there. */
export interface BothDoors {
  readonly store: PostgresStore
  readonly psql: pg.Client
  readonly doors: TwoDoors
  /** One more connection of the other program's. */
  connect(): Promise<pg.Client>
  close(): Promise<unknown>
}

/** For all tests of a file: opened by `beforeAll`, which closes it again if `close` is returned to it. */
export async function openBothDoors(): Promise<BothDoors> {
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
  return { store, psql, doors: new TwoDoors(store, psql), connect, close }
}

export class TwoDoors {
  readonly #store: PostgresStore
  readonly #psql: pg.Client
  readonly #scheduler: Scheduler

  constructor(store: PostgresStore, psql: pg.Client) {
    this.#store = store
    this.#psql = psql
    const task = defineTask({ name: "report", payload: z.any(), run: () => undefined })
    // Never started: what happens is what this test does.
    this.#scheduler = createScheduler({ store, tasks: [task], logger: silentLogger })
  }

  byApi(situation: Situation | null, { api }: Operation): Promise<Done> {
    return this.#done(situation, () => api(this.#scheduler))
  }

  bySql(situation: Situation | null, { sql }: Operation): Promise<Done> {
    return this.#done(situation, async () => {
      for (const statement of sql) await this.#psql.query(statement)
    })
  }

  /** Fires whatever is due, as a process would. */
  async look(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) {
      const { due, now } = await this.#store.dueSchedules({ limit: 100 })
      if (due.length === 0) return
      for (const { schedule, facts } of due) {
        const plan = await plannedBy(this.#store, schedule, facts, (known) => planFire(schedule, known, now))
        await this.#store.transition(cancelsOf(plan))
        await this.#store.fire([plan])
      }
    }
    throw new Error("Still due after 20 looks")
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

  async #done(situation: Situation | null, work: () => Promise<unknown>): Promise<Done> {
    // For so few rows it takes a tenth of the time of a truncate.
    await this.#psql.query("delete from belfry.schedules; delete from belfry.runs")
    if (situation !== null) await this.#store.putSchedule(scheduleIn(situation), null)
    const begun = await this.#store.now()
    const isRefused = await work().then(
      () => false,
      () => true,
    )
    const shown = await this.#shown()
    await this.look()
    const ended = await this.#store.now()
    const [schedule] = await this.#store.findSchedules({}, { orderBy: "id", after: null, limit: 1 })
    const runs = await this.#store.findRuns({}, { orderBy: "createdAt", after: null, limit: 1_000 })
    const told = (record: object) => toldOf(record, begun, ended)
    return {
      isRefused,
      shown: shown === null ? null : told(shown),
      schedule: schedule === undefined ? null : told(schedule),
      runs: runs.map(told).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    }
  }
}

/** Two doors aren't used at the same millisecond: instants of the operation itself are told as "now". */
function toldOf(record: object, begun: number, ended: number): object {
  const { version: _, updatedAt: __, revision: ___, ...rest } = record as Schedule
  return JSON.parse(JSON.stringify(rest), (_key, value: unknown) => {
    if (typeof value === "number" && value >= begun && value <= ended + 1) return "now"
    return typeof value === "string" ? value.replace(/\+[0-9a-f-]{36}$/, "+…") : value
  }) as object
}
