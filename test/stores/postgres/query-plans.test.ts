import assert from "node:assert/strict"
import type { Store } from "belfry/store"
import type pg from "pg"
import { afterAll, beforeAll, describe, test } from "vitest"
import { type RunRef, succeed, UNFINISHED } from "../../../src/core/run.ts"
import {
  aClaim,
  aHeartbeat,
  aLogLine,
  aPlan,
  aPruning,
  aRun,
  aRunOf,
  aSchedule,
  heldRun,
} from "../../../src/store/laws/factories.ts"
import { several } from "../../../src/store/laws/steps.ts"
import { freshDatabase } from "../../support/fresh-database.ts"
import { connected } from "../../support/postgres.ts"
import { anExplainedStore, type ExplainedStore } from "./explained.ts"

/**
 * What every statement of the store reads, as the server tells it while it performs it, on 20,000 schedules and 50,000
 * runs: a few rows, each found by an index. The connection has its plans from when the tables were empty, which is how a
 * process begins on a new database.
 */

const SCHEDULES = 20_000

const FILL = `
  insert into belfry.schedules (id, task, cron, owner, next_run_at, covered_until, version)
  select 's' || n, 'report', '0 3 * * *', case when n % 200 = 0 then 'app' else 'other' end,
    clock_timestamp() + case when n <= 300 then '-1 minute' else n * interval '1 second' end, clock_timestamp(),
    nextval('belfry.versions')
  from generate_series(1, ${SCHEDULES}) as n;

  -- The past: one schedule with 20,000 runs, many with one or two; a few of them failed.
  insert into belfry.runs (id, task, schedule_id, concurrency_key, scheduled_for, triggered_by, state, attempt, created_at,
    started_at, completed_at)
  select 'past' || n, 'report', s.id, 'schedule:' || s.id, at, 'schedule',
    case when n % 100 = 0 then 'failed' else 'succeeded' end, 1, at, at, at
  from generate_series(1, 44000) as n,
    lateral (select case when n <= 20000 then 's1' else 's' || n % ${SCHEDULES} + 1 end as id) as s,
    lateral (select date_trunc('milliseconds', clock_timestamp()) - n * interval '1 minute' as at) as t;

  -- The future, and what is due: of four priorities, and of a key that is full.
  insert into belfry.runs (id, task, triggered_by, state, priority, claimable_at)
  select 'later' || n, 'report', 'api', 'pending', n % 4, clock_timestamp() + n * interval '1 minute'
  from generate_series(1, 3000) as n;
  insert into belfry.runs (id, task, triggered_by, state, priority, claimable_at, concurrency_key, concurrency_limit)
  select 'due' || n, 'report', 'api', 'pending', n % 4, clock_timestamp() - n * interval '1 second',
    'key' || n % 200, 10
  from generate_series(1, 2000) as n;
  insert into belfry.runs (id, task, triggered_by, state, claimable_at, concurrency_key, concurrency_limit, live_key)
  select 'waiting' || n, 'report', 'api', 'pending', clock_timestamp() - interval '1 day', 'full', 1, 'live' || n
  from generate_series(1, 100) as n;

  -- The present.
  insert into belfry.runs (id, task, triggered_by, state, attempt, claimable_at, concurrency_key, concurrency_limit, slot,
    worker_id, started_at)
  select 'running' || n, 'report', 'api', 'running', 1, clock_timestamp() + interval '1 hour',
    case when n = 1 then 'full' end, case when n = 1 then 1 end, case when n = 1 then 0 end, 'w', clock_timestamp()
  from generate_series(1, 900) as n;

  insert into belfry.logs (run_id, attempt, number, at, level, message)
  select 'past' || n % 100 + 1, 1, n, clock_timestamp(), 'info', 'A line'
  from generate_series(1, 20000) as n;`

let psql: pg.Client & AsyncDisposable
let explained: ExplainedStore

const page = { orderBy: "createdAt", before: null, limit: 20 } as const
const before = { at: Date.now() - 10_000 * 60_000, id: "past10000" }
const ref = (number: number): RunRef => ({
  ...{ id: `running${number}`, state: "running", attempt: 1, failures: 0, lost: 0 },
})

/** What is asked for, the most rows of a table that it may look at, and the indexes it goes by. */
const CALLS: readonly [
  what: string,
  most: number,
  indexes: readonly string[],
  call: (store: Store) => Promise<unknown>,
][] = [
  [
    "due schedules, of 300",
    200,
    ["schedules_due", "schedules_pkey", "runs_key"],
    (store) => store.dueSchedules({ limit: 50 }),
  ],
  ["a fire of 50", 200, ["schedules_pkey", "runs_pkey", "runs_live"], fireFifty],
  [
    "a claim of 10, past 100 runs that wait for their key",
    1_000,
    ["runs_due", "runs_key", "runs_pkey", "runs_slot"],
    (store) => store.claim(aClaim({ limit: 10 })),
  ],
  [
    "a heartbeat of a worker with 50",
    150,
    ["runs_pkey", "workers_pkey"],
    (store) => store.heartbeat(aHeartbeat({ held: several(50, (n) => heldRun(ref(n + 100))) })),
  ],
  [
    "the ends of 50",
    150,
    ["runs_pkey"],
    (store) => store.transition(several(50, (n) => succeed(ref(n + 200), { message: null, details: null }))),
  ],
  [
    "stale changes",
    10,
    ["runs_pkey"],
    (store) => store.transition([{ ...succeed(ref(1), NOTHING), ifAttempt: 9 }]),
  ],
  [
    "enqueuing 50, of which one is held and one there",
    200,
    ["runs_pkey", "runs_live"],
    (store) =>
      store.enqueue([...several(48, () => aRun()), aRun({ liveKey: "live7" }), aRun({ id: "past5" })]),
  ],
  ["pruning 100", 3_000, ["runs_completed", "runs_schedule_completed", "runs_pkey", "logs_pkey"], prune],
  ["log lines", 10, ["runs_pkey"], (store) => store.appendLogs([aLogLine("past7", { number: 1_000_000 })])],
  [
    "a page of a log",
    50,
    ["logs_pkey"],
    (store) => store.readLogs({ runId: "past7", after: { attempt: 1, number: 2_000 }, limit: 20 }),
  ],
  [
    "a schedule",
    5,
    ["schedules_pkey"],
    (store) => store.findSchedules({ ids: ["s77"] }, { afterId: null, limit: 1 }),
  ],
  [
    "500 schedules by their ids",
    1_000,
    ["schedules_pkey"],
    (store) => store.findSchedules({ ids: several(500, (n) => `s${n * 7}`) }, { afterId: null, limit: 500 }),
  ],
  [
    "a page of schedules",
    50,
    ["schedules_pkey"],
    (store) => store.findSchedules({}, { afterId: "s5", limit: 20 }),
  ],
  [
    "an owner's schedules",
    200,
    ["schedules_owner"],
    (store) => store.findSchedules({ owner: "app" }, { afterId: "s2", limit: 100 }),
  ],
  ["a put schedule", 5, ["schedules_pkey"], putAgain],
  ["a deleted schedule", 5, ["schedules_pkey"], (store) => store.deleteSchedule("s19999", -1)],
  ["runs by their ids", 50, ["runs_pkey"], (store) => store.findRuns({ ids: ["past1", "past40000"] }, page)],
  ["the newest runs", 100, ["runs_created"], (store) => store.findRuns({}, page)],
  ["a later page of them", 100, ["runs_created"], (store) => store.findRuns({}, { ...page, before })],
  [
    "the runs that ended last",
    100,
    ["runs_completed"],
    (store) => store.findRuns({}, { ...page, orderBy: "completedAt", before }),
  ],
  [
    "a schedule's occurrences",
    100,
    ["runs_schedule"],
    (store) => store.findRuns({ scheduleId: "s1" }, { ...page, orderBy: "scheduledFor", before }),
  ],
  [
    "a schedule's last success, of 20,000",
    100,
    ["runs_schedule_completed"],
    (store) =>
      store.findRuns(
        { scheduleId: "s1", states: ["succeeded"] },
        { ...page, orderBy: "completedAt", limit: 1 },
      ),
  ],
  [
    "a schedule's unfinished runs",
    100,
    ["runs_key"],
    (store) => store.findRuns({ concurrencyKey: "schedule:s1", states: UNFINISHED }, page),
  ],
  ["failed runs", 100, ["runs_unusual"], (store) => store.findRuns({ states: ["failed"] }, page)],
  ["workers", 50, ["workers_pkey"], (store) => store.findWorkers({ afterId: null, limit: 10 })],
]
const NOTHING = { message: null, details: null }

beforeAll(async () => {
  const url = await freshDatabase()
  psql = await connected(url)
  explained = await anExplainedStore(url)
  // Often enough for PostgreSQL to settle on a plan.
  for (let times = 0; times < 7; times++)
    for (const [, , , call] of CALLS) await call(explained.store).catch(() => undefined)
  await psql.query("truncate belfry.schedules, belfry.runs, belfry.logs, belfry.workers")
  await psql.query(FILL)
})
afterAll(async () => {
  await explained?.close()
  await psql?.end()
})

describe.each([
  ["by plans made when the tables were empty", ""],
  ["by plans made when they were full", "analyze belfry.schedules, belfry.runs, belfry.logs"],
])("%s,", (_, preparation) => {
  beforeAll(async () => {
    await psql.query(preparation)
  })

  test.each(CALLS)("%s: few rows, by an index", async (_, most, indexes, call) => {
    const found = await explained.looks(() => call(explained.store))

    // A statement of a few rows may find the workers, who are few, without an index.
    const looks = found.filter(({ table }) => !["workers", "migrations"].includes(table))
    const whole = looks.filter(({ index }) => index === null)
    assert.deepEqual(whole, [], "nothing is read from one end to the other")
    const useful = looks.filter(({ rows }) => rows > 0)
    assert.deepEqual(
      useful.filter(({ index }) => !indexes.includes(index!)),
      [],
      "by no other index",
    )
    assert.ok(Math.max(0, ...useful.map(({ rows }) => rows)) <= most, JSON.stringify(useful))
  })
})

async function fireFifty(store: Store): Promise<unknown> {
  const { due } = await store.dueSchedules({ limit: 50 })
  const plans = due.map(({ schedule }) =>
    aPlan(schedule, { runs: [aRunOf(schedule.id, { liveKey: schedule.id })] }),
  )
  return store.fire(plans)
}

async function prune(store: Store): Promise<unknown> {
  return store.prune(aPruning({ olderThanMs: 40_000 * 60_000, keepPerSchedule: 1, limit: 100 }))
}

async function putAgain(store: Store): Promise<unknown> {
  await store.putSchedule(aSchedule({ id: "s5000" }), null)
  return store.putSchedule(aSchedule({ id: "s5000" }), -1)
}
