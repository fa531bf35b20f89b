import assert from "node:assert/strict"
import type { PostgresStore } from "belfry/postgres"
import type pg from "pg"
import { beforeAll, describe, test } from "vitest"
import {
  DAILY,
  DAY,
  NOON,
  type Operation,
  openSqlHarness,
  type Situation,
  type SqlHarness,
} from "./sql-harness.ts"

/** Each operation has the same effect through the API and through SQL. */

const HOUR = 3_600_000
const EVERYTHING = { catchUp: { policy: "all", window: "30d" }, overlap: "allow" } as const
const iso = (at: number) => new Date(at).toISOString()
const LATER = NOON + 2.5 * DAY
const PAUSE = { until: null, reason: "stocktaking", by: "ada" }

const SITUATIONS: Readonly<Record<string, Situation>> = {
  idle: {},
  due: { progress: { coveredUntil: NOON - DAY, nextRunAt: NOON } },
  "overdue by three occurrences with one catch-up run": {
    progress: { coveredUntil: NOON - 3 * DAY, nextRunAt: NOON - 2 * DAY },
  },
  "overdue by three occurrences with catch-up of all": {
    options: EVERYTHING,
    progress: { coveredUntil: NOON - 3 * DAY, nextRunAt: NOON - 2 * DAY },
  },
  paused: {
    options: EVERYTHING,
    progress: { coveredUntil: NOON - DAY, nextRunAt: null, paused: { ...PAUSE, at: NOON - HOUR } },
  },
  "paused while one occurrence was overdue": {
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
  "at its maxRuns": {
    options: { maxRuns: 9 },
    progress: { nextRunAt: null, finishedAt: NOON, firedCount: 9 },
  },
  "delayed by jitter": {
    options: { jitter: "23h" },
    progress: { coveredUntil: NOON - DAY, nextRunAt: NOON + 12 * HOUR },
  },
  "based on an interval": { times: { every: "1d", anchor: iso(NOON - 10 * DAY) } },
  "based on two crons": { times: { triggers: [{ cron: DAILY }, { cron: "0 0 29 2 *" }] } },
  "paused for a day": {
    progress: { nextRunAt: NOON + DAY, paused: { ...PAUSE, until: NOON + DAY, at: NOON + HOUR } },
  },
  "with one occurrence skipped and one moved": {
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
  "a change and its reversal": {
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
  "reschedule to the next occurrence": {
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
  "another removeWhenFinished": {
    api: changing({ removeWhenFinished: true }),
    sql: [set(`options = options || '{"removeWhenFinished": true}'`)],
  },
  delete: {
    api: ({ schedules }) => schedules.delete("x"),
    sql: ["delete from belfry.schedules where id = 'x'"],
  },
}

/** Operations that create the schedule. */
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

const CREATIONS: Readonly<Record<string, Operation>> = {
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
  "create without overlap and trigger twice": {
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
  "create with overlap replace and trigger twice": {
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
  "create with overlap queue and trigger three times": {
    api: async ({ schedules }) => {
      await schedules.create("x", { ...create, overlap: "queue" })
      for (let times = 0; times < 3; times++) await schedules.trigger("x", by)
    },
    sql: [
      insert("options", `'{"overlap": "queue"}'`),
      ...Array.from({ length: 3 }, () => "select belfry.trigger('x')"),
    ],
  },
  "create with a queue of three and trigger": {
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
  "create with an id that exists": {
    api: async ({ schedules }) => {
      await schedules.create("x", create)
      await schedules.create("x", create)
    },
    sql: [insert("enabled", "true"), insert("enabled", "true")],
  },
}

let store: PostgresStore
let psql: pg.Client
let harness: SqlHarness

beforeAll(async () => {
  const opened = await openSqlHarness()
  ;({ store, psql, harness } = opened)
  return opened.close
})

for (const [situation, where] of Object.entries(SITUATIONS)) {
  describe(`of a schedule that is ${situation}`, () => {
    test.each(Object.entries(OPERATIONS))(
      "%s has the same effect through the API and through SQL",
      async (_, operation) => {
        const byApi = await harness.byApi(where, operation)
        const bySql = await harness.bySql(where, operation)

        assert.deepEqual(bySql, byApi)
      },
    )
  })
}

describe("of a schedule that does not exist", () => {
  test.each(Object.entries(CREATIONS))(
    "%s has the same effect through the API and through SQL",
    async (_, operation) => {
      const byApi = await harness.byApi(null, operation)
      const bySql = await harness.bySql(null, operation)

      assert.deepEqual(bySql, byApi)
    },
  )

  const absent = Object.entries(OPERATIONS).filter(
    ([name]) => !/nothing|change|other|able|back|delete/.test(name),
  )
  test.each(absent)("%s is refused by the API and by SQL", async (_, operation) => {
    const byApi = await harness.byApi(null, operation)
    const bySql = await harness.bySql(null, operation)

    assert.deepEqual(bySql, byApi)
    assert.equal(bySql.isUnstorable, true)
  })
})

test("an update of next_run_at is a reschedule", async () => {
  for (const where of Object.values(SITUATIONS)) {
    if (where === SITUATIONS["at its maxRuns"]) continue
    const byApi = await harness.byApi(where, OPERATIONS["reschedule to later"]!)
    const bySql = await harness.bySql(where, {
      ...OPERATIONS["nothing"]!,
      sql: [set(`next_run_at = '${iso(LATER)}'`)],
    })

    assert.deepEqual(bySql, byApi)
  }
})

test("an update that clears paused is a resume", async () => {
  const where = SITUATIONS["paused while one occurrence was overdue"]!
  const byApi = await harness.byApi(where, OPERATIONS["resume"]!)
  const bySql = await harness.bySql(where, { ...OPERATIONS["nothing"]!, sql: [set("paused = null")] })

  assert.deepEqual(bySql, byApi)
})

test("a deploy that only updates the release keeps edits by SQL for the next plan", async () => {
  const releasing: Operation = {
    ...OPERATIONS["another cron"]!,
    api: async () => {
      await psql.query(set(`cron = '${OTHER}'`))
      const [schedule] = await store.findSchedules({}, { orderBy: "id", after: null, limit: 1 })
      await store.putSchedule({ ...schedule!, description: "noted" }, schedule!.version)
    },
  }
  const where = SITUATIONS["overdue by three occurrences with catch-up of all"]!
  const bySql = await harness.bySql(where, releasing)
  const afterRelease = await harness.byApi(where, releasing)

  assert.deepEqual(afterRelease.runs, bySql.runs)
  assert.equal(afterRelease.runs.length, 3)
})
