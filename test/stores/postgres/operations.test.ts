import assert from "node:assert/strict"
import type { PostgresStore } from "belfry/postgres"
import type pg from "pg"
import { beforeAll, describe, test } from "vitest"
import {
  DAILY,
  DAY,
  NOON,
  type Operation,
  openBothDoors,
  type Situation,
  type TwoDoors,
} from "./two-doors.ts"

/** One meaning for each operation, whichever door it comes through. */

const HOUR = 3_600_000
const EVERYTHING = { catchUp: { policy: "all", window: "30d" }, overlap: "allow" } as const
const iso = (at: number) => new Date(at).toISOString()
const LATER = NOON + 2.5 * DAY
const PAUSE = { until: null, reason: "stocktaking", by: "ada" }

const SITUATIONS: Readonly<Record<string, Situation>> = {
  idle: {},
  due: { progress: { coveredUntil: NOON - DAY, nextRunAt: NOON } },
  "three owed, one to be made up for": {
    progress: { coveredUntil: NOON - 3 * DAY, nextRunAt: NOON - 2 * DAY },
  },
  "three owed, all to be made up for": {
    options: EVERYTHING,
    progress: { coveredUntil: NOON - 3 * DAY, nextRunAt: NOON - 2 * DAY },
  },
  paused: {
    options: EVERYTHING,
    progress: { coveredUntil: NOON - DAY, nextRunAt: null, paused: { ...PAUSE, at: NOON - HOUR } },
  },
  "paused while one was owed": {
    options: EVERYTHING,
    progress: {
      coveredUntil: NOON - 3 * DAY,
      nextRunAt: null,
      paused: { ...PAUSE, at: NOON - 2 * DAY + HOUR },
    },
  },
  disabled: { options: { enabled: false }, progress: { nextRunAt: null } },
  finished: {
    options: { endsAt: NOON + HOUR },
    progress: { nextRunAt: null, finishedAt: NOON, firedCount: 9 },
  },
  spent: { options: { maxRuns: 9 }, progress: { nextRunAt: null, finishedAt: NOON, firedCount: 9 } },
  "held back by jitter": {
    options: { jitter: "23h" },
    progress: { coveredUntil: NOON - DAY, nextRunAt: NOON + 12 * HOUR },
  },
  "one of intervals": { times: { every: "1d", anchor: iso(NOON - 10 * DAY) } },
  "one of two crons": { times: { triggers: [{ cron: DAILY }, { cron: "0 0 29 2 *" }] } },
  "paused for a day": {
    progress: { nextRunAt: NOON + DAY, paused: { ...PAUSE, until: NOON + DAY, at: NOON + HOUR } },
  },
  "with one left out and one moved": {
    progress: {
      overrides: [
        { scheduledFor: NOON + DAY, dueAt: null, reason: "holiday", by: "ada" },
        { scheduledFor: NOON + 2 * DAY, dueAt: NOON + 2 * DAY + HOUR, reason: null, by: "ada" },
      ],
    },
  },
}

const OTHER = `30 ${new Date(NOON).getUTCHours()} * * *`
const by = { by: "postgres" }

function changing(
  changes: Parameters<Parameters<Operation["api"]>[0]["schedules"]["update"]>[1],
): Operation["api"] {
  return async ({ schedules }) => {
    const { revision } = (await schedules.get("x"))!
    await schedules.update("x", changes, { ifRevision: revision })
  }
}

const set = (text: string) => `update belfry.schedules set ${text} where id = 'x'`
const SOON = NOON + 13 * HOUR

const OPERATIONS: Readonly<Record<string, Operation>> = {
  nothing: { api: async () => undefined, sql: [] },
  "another cron": { api: changing({ cron: OTHER }), sql: [set(`cron = '${OTHER}'`)] },
  "another zone": { api: changing({ timezone: "Asia/Tokyo" }), sql: [set("timezone = 'Asia/Tokyo'")] },
  "another payload": { api: changing({ payload: [2] }), sql: [set("payload = '[2]'")] },
  "another priority": { api: changing({ priority: 7 }), sql: [set("priority = 7")] },
  "another timeout": {
    api: changing({ timeout: "5m" }),
    sql: [set(`options = options || '{"timeout": "5m"}'`)],
  },
  "another catch-up and overlap": {
    api: changing({ catchUp: "none", overlap: "queue" }),
    sql: [set(`options = options || '{"catchUp": "none", "overlap": "queue"}'`)],
  },
  "two changes": {
    api: async (scheduler) => {
      await changing({ cron: OTHER })(scheduler)
      await changing({ payload: [2] })(scheduler)
    },
    sql: [set(`cron = '${OTHER}'`), set("payload = '[2]'")],
  },
  "there and back": {
    api: async (scheduler) => {
      await changing({ cron: OTHER })(scheduler)
      await changing({ cron: DAILY })(scheduler)
    },
    sql: [set(`cron = '${OTHER}'`), set(`cron = '${DAILY}'`)],
  },
  disable: { api: changing({ enabled: false }), sql: [set("enabled = false")] },
  "disable and enable": {
    api: async (scheduler) => {
      await changing({ enabled: false })(scheduler)
      await changing({ enabled: true })(scheduler)
    },
    sql: [set("enabled = false"), set("enabled = true")],
  },
  pause: {
    api: ({ schedules }) => schedules.pause("x", { reason: "moving", ...by }),
    sql: ["select belfry.pause('x', 'moving')"],
  },
  "pause until": {
    api: ({ schedules }) => schedules.pause("x", { until: iso(LATER), ...by }),
    sql: [`select belfry.pause('x', until => '${iso(LATER)}')`],
  },
  resume: { api: ({ schedules }) => schedules.resume("x"), sql: ["select belfry.resume('x')"] },
  "pause and resume": {
    api: async ({ schedules }) => {
      await schedules.pause("x", by)
      await schedules.resume("x")
    },
    sql: ["select belfry.pause('x')", "select belfry.resume('x')"],
  },
  "reschedule to sooner": {
    api: ({ schedules }) => schedules.reschedule("x", iso(SOON), by),
    sql: [`select belfry.reschedule('x', '${iso(SOON)}')`],
  },
  "reschedule to later": {
    api: ({ schedules }) => schedules.reschedule("x", iso(LATER), by),
    sql: [`select belfry.reschedule('x', '${iso(LATER)}')`],
  },
  "reschedule onto the next one": {
    api: ({ schedules }) => schedules.reschedule("x", iso(NOON + DAY), by),
    sql: [`select belfry.reschedule('x', '${iso(NOON + DAY)}')`],
  },
  "reschedule to the past": {
    api: ({ schedules }) => schedules.reschedule("x", iso(NOON), by),
    sql: [`select belfry.reschedule('x', '${iso(NOON)}')`],
  },
  "resume and reschedule": {
    api: async ({ schedules }) => {
      await schedules.resume("x")
      await schedules.reschedule("x", iso(SOON), by)
    },
    sql: ["select belfry.resume('x')", `select belfry.reschedule('x', '${iso(SOON)}')`],
  },
  trigger: {
    api: ({ schedules }) => schedules.trigger("x", { payload: { n: 1 }, ...by }),
    sql: [`select belfry.trigger('x', '{"n": 1}')`],
  },
  "another end, which removes it": {
    api: changing({ removeWhenFinished: true }),
    sql: [set(`options = options || '{"removeWhenFinished": true}'`)],
  },
  delete: {
    api: ({ schedules }) => schedules.delete("x"),
    sql: ["delete from belfry.schedules where id = 'x'"],
  },
}

/** Each makes its schedule itself. */
const insert = (columns: string, values: string) =>
  `insert into belfry.schedules (id, task, payload, cron, ${columns}) values ('x', 'report', '[1]', '${DAILY}', ${values})`
const OPTIONS = {
  overlap: "allow",
  timeout: "10m",
  retry: { attempts: 5, delay: "3s", backoff: "fixed" },
  maxConcurrentRuns: 4,
} as const
const INSERT_WITH_OPTIONS = insert("options", `'${JSON.stringify(OPTIONS)}'`)
const create = { task: "report", payload: [1], cron: DAILY } as const

const BEGINNINGS: Readonly<Record<string, Operation>> = {
  create: {
    api: ({ schedules }) => schedules.create("x", { ...create, timezone: "Asia/Tokyo" }),
    sql: [insert("timezone", "'Asia/Tokyo'")],
  },
  "create with options": {
    api: ({ schedules }) => schedules.create("x", { ...create, ...OPTIONS }),
    sql: [INSERT_WITH_OPTIONS],
  },
  "create disabled": {
    api: ({ schedules }) => schedules.create("x", { ...create, enabled: false }),
    sql: [insert("enabled", "false")],
  },
  "create and trigger": {
    api: async ({ schedules }) => {
      await schedules.create("x", { ...create, ...OPTIONS })
      await schedules.trigger("x", by)
      await schedules.trigger("x", by)
    },
    sql: [INSERT_WITH_OPTIONS, "select belfry.trigger('x')", "select belfry.trigger('x')"],
  },
  "create and trigger twice what may not overlap": {
    api: async ({ schedules }) => {
      await schedules.create("x", { ...create, catchUp: "none" })
      await schedules.trigger("x", by)
      await schedules.trigger("x", by)
    },
    sql: [
      insert("options", `'{"catchUp": "none"}'`),
      "select belfry.trigger('x')",
      "select belfry.trigger('x')",
    ],
  },
  "create and trigger twice what is replaced": {
    api: async ({ schedules }) => {
      await schedules.create("x", { ...create, overlap: "replace" })
      await schedules.trigger("x", by)
      await schedules.trigger("x", by)
    },
    sql: [
      insert("options", `'{"overlap": "replace"}'`),
      "select belfry.trigger('x')",
      "select belfry.trigger('x')",
    ],
  },
  "create and trigger three times where one may wait": {
    api: async ({ schedules }) => {
      await schedules.create("x", { ...create, overlap: "queue" })
      for (let times = 0; times < 3; times++) await schedules.trigger("x", by)
    },
    sql: [
      insert("options", `'{"overlap": "queue"}'`),
      ...Array.from({ length: 3 }, () => "select belfry.trigger('x')"),
    ],
  },
  "create and trigger what queues": {
    api: async ({ schedules }) => {
      await schedules.create("x", { ...create, overlap: { policy: "queue", limit: 3 } })
      await schedules.trigger("x", by)
    },
    sql: [insert("options", `'{"overlap": {"policy": "queue", "limit": 3}}'`), "select belfry.trigger('x')"],
  },
  "create and reschedule at once": {
    api: async ({ schedules }) => {
      await schedules.create("x", create)
      await schedules.reschedule("x", iso(SOON), by)
    },
    sql: [insert("enabled", "true"), `select belfry.reschedule('x', '${iso(SOON)}')`],
  },
  "create and pause at once": {
    api: async ({ schedules }) => {
      await schedules.create("x", create)
      await schedules.pause("x", by)
    },
    sql: [insert("enabled", "true"), "select belfry.pause('x')"],
  },
  "create disabled and enable": {
    api: async (scheduler) => {
      await scheduler.schedules.create("x", { ...create, enabled: false })
      await changing({ enabled: true })(scheduler)
    },
    sql: [insert("enabled", "false"), set("enabled = true")],
  },
  "an id that is taken": {
    api: async ({ schedules }) => {
      await schedules.create("x", create)
      await schedules.create("x", create)
    },
    sql: [insert("enabled", "true"), insert("enabled", "true")],
  },
}

let store: PostgresStore
let psql: pg.Client
let doors: TwoDoors

beforeAll(async () => {
  const both = await openBothDoors()
  ;({ store, psql, doors } = both)
  return both.close
})

for (const [situation, where] of Object.entries(SITUATIONS)) {
  describe(`of a schedule that is ${situation}`, () => {
    test.each(Object.entries(OPERATIONS))("%s is the same by the API and by SQL", async (_, operation) => {
      const byApi = await doors.byApi(where, operation)
      const bySql = await doors.bySql(where, operation)

      assert.deepEqual(bySql, byApi)
    })
  })
}

describe("of a schedule that isn't there", () => {
  test.each(Object.entries(BEGINNINGS))("%s is the same by the API and by SQL", async (_, operation) => {
    const byApi = await doors.byApi(null, operation)
    const bySql = await doors.bySql(null, operation)

    assert.deepEqual(bySql, byApi)
  })

  const absent = Object.entries(OPERATIONS).filter(
    ([name]) => !/nothing|change|other|able|back|delete/.test(name),
  )
  test.each(absent)("%s is refused by both", async (_, operation) => {
    const byApi = await doors.byApi(null, operation)
    const bySql = await doors.bySql(null, operation)

    assert.deepEqual(bySql, byApi)
    assert.equal(bySql.isRefused, true)
  })
})

test("a plain update of next_run_at is a reschedule", async () => {
  for (const where of Object.values(SITUATIONS)) {
    if (where === SITUATIONS["spent"]) continue
    const byApi = await doors.byApi(where, OPERATIONS["reschedule to later"]!)
    const bySql = await doors.bySql(where, {
      ...OPERATIONS["nothing"]!,
      sql: [set(`next_run_at = '${iso(LATER)}'`)],
    })

    assert.deepEqual(bySql, byApi)
  }
})

test("a plain update that takes the pause away is a resume", async () => {
  const where = SITUATIONS["paused while one was owed"]!
  const byApi = await doors.byApi(where, OPERATIONS["resume"]!)
  const bySql = await doors.bySql(where, { ...OPERATIONS["nothing"]!, sql: [set("paused = null")] })

  assert.deepEqual(bySql, byApi)
})

test("a deploy that only notes its release leaves what was written by SQL to be planned", async () => {
  const noting: Operation = {
    ...OPERATIONS["another cron"]!,
    api: async () => {
      await psql.query(set(`cron = '${OTHER}'`))
      const [schedule] = await store.findSchedules({}, { orderBy: "id", after: null, limit: 1 })
      await store.putSchedule({ ...schedule!, description: "noted" }, schedule!.version)
    },
  }
  const where = SITUATIONS["three owed, all to be made up for"]!
  const bySql = await doors.bySql(where, noting)
  const noted = await doors.byApi(where, noting)

  assert.deepEqual(noted.runs, bySql.runs)
  assert.equal(noted.runs.length, 3)
})
