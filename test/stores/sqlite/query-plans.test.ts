import assert from "node:assert/strict"
import { beforeEach, describe, test } from "vitest"
import type { Database } from "../../../src/stores/sqlite/driver.ts"
import { SELECT_CLAIMABLE, SELECT_QUEUES } from "../../../src/stores/sqlite/statements/claiming.ts"
import {
  SELECT_BUSY,
  SELECT_DUE,
  SELECT_LAST_SUCCESS,
  SELECT_NEXT_DUE,
  SELECT_UNFINISHED,
} from "../../../src/stores/sqlite/statements/due.ts"
import { SELECT_EXISTS, SELECT_HOLDER } from "../../../src/stores/sqlite/statements/enqueuing.ts"
import { countQueries, runsQueries } from "../../../src/stores/sqlite/statements/finding.ts"
import { schedulesQuery } from "../../../src/stores/sqlite/statements/finding-schedules.ts"
import { SELECT_PLANNED } from "../../../src/stores/sqlite/statements/firing.ts"
import { SELECT_LINES } from "../../../src/stores/sqlite/statements/logs.ts"
import { SELECT_OLD, UPDATE_WITHOUT_END } from "../../../src/stores/sqlite/statements/pruning.ts"
import { SELECT_CHANGED } from "../../../src/stores/sqlite/statements/transition.ts"
import { aDatabase, anOpenStore, aPath } from "./scratch.ts"

let database: Database

const runsQuery = (...given: Parameters<typeof runsQueries>) => runsQueries(...given)[0]!

beforeEach(async () => {
  const path = aPath()
  await anOpenStore(path)
  database = await aDatabase(path)
})

const PAGE = { orderBy: "createdAt", after: { at: 1, id: "r" }, limit: 10 } as const
const LIST = { orderBy: "id", after: { at: null, id: "s" }, limit: 10 } as const

/** The queries of the loops and of lists. Each must use an index and sort nothing. */
const QUERIES: readonly [string, string, RegExp][] = [
  ["due schedules", SELECT_DUE, /USING INDEX belfry_schedules_due \(next_run_at<\?\)/],
  [
    "the next due schedule",
    SELECT_NEXT_DUE,
    /USING COVERING INDEX belfry_schedules_due \(next_run_at>\? AND next_run_at<\?\)/,
  ],
  ["which schedules have unfinished runs", SELECT_BUSY, /INDEX belfry_runs_key \(concurrency_key=\?/],
  [
    "a schedule's unfinished runs",
    SELECT_UNFINISHED,
    /INDEX belfry_runs_key \(concurrency_key=\? AND state=\?\)/,
  ],
  ["a schedule's last success", SELECT_LAST_SUCCESS, /COVERING INDEX belfry_runs_schedule_completed/],
  ["the versions of schedules", SELECT_PLANNED, /sqlite_autoindex_belfry_schedules_1 \(id=\?\)/],
  ["the states of runs", SELECT_CHANGED, /sqlite_autoindex_belfry_runs_1 \(id=\?\)/],
  ["whether a run exists", SELECT_EXISTS, /sqlite_autoindex_belfry_runs_1 \(id=\?\)/],
  ["the holder of a live key", SELECT_HOLDER, /INDEX belfry_runs_live \(live_key=\?\)/],
  ["the queues of tasks", SELECT_QUEUES, /COVERING INDEX belfry_runs_due \(task=\? AND priority=\?/],
  [
    "claimable runs",
    SELECT_CLAIMABLE,
    /INDEX belfry_runs_due \(task=\? AND priority=\? AND claimable_at<\?\)[\s\S]*other USING INDEX belfry_runs_key \(concurrency_key=\? AND state=\?\)/,
  ],
  [
    "old runs",
    SELECT_OLD,
    /INDEX belfry_runs_completed[\s\S]*newer USING COVERING INDEX belfry_runs_schedule_completed/,
  ],
  ["finished runs without an end", UPDATE_WITHOUT_END, /USING (COVERING )?INDEX belfry_runs_without_end/],
  ["a page of a log", SELECT_LINES, /USING PRIMARY KEY \(run_id=\? AND \(attempt,number\)>\(\?,\?\)\)/],
  ["a page of runs", runsQuery({}, PAGE).sql, /INDEX belfry_runs_created/],
  [
    "runs by completion",
    runsQuery({}, { ...PAGE, orderBy: "completedAt" }).sql,
    /INDEX belfry_runs_completed/,
  ],
  [
    "a schedule's runs",
    runsQuery({ scheduleId: "s" }, PAGE).sql,
    /belfry_runs_schedule_created \(schedule_id=\?/,
  ],
  [
    "a schedule's occurrences",
    runsQuery({ scheduleId: "s" }, { ...PAGE, orderBy: "scheduledFor" }).sql,
    /belfry_runs_schedule_scheduled \(schedule_id=\?/,
  ],
  [
    "a schedule's newest ends",
    runsQuery({ scheduleId: "s" }, { ...PAGE, orderBy: "completedAt" }).sql,
    /belfry_runs_schedule_completed \(schedule_id=\?/,
  ],
  ["a page of schedules", schedulesQuery({}, LIST, 0).sql, /sqlite_autoindex_belfry_schedules_1 \(id>\?\)/],
  [
    "an owner's schedules",
    schedulesQuery({ owner: "o" }, LIST, 0).sql,
    /belfry_schedules_owner \(owner=\? AND id>\?\)/,
  ],
  [
    "a task's schedules",
    schedulesQuery({ task: "t" }, LIST, 0).sql,
    /belfry_schedules_task \(task=\? AND id>\?\)/,
  ],
  [
    "schedules by id",
    schedulesQuery({ ids: [] }, { ...LIST, after: null }, 0).sql,
    /belfry_schedules_1 \(id=\?\)/,
  ],
  [
    "tagged schedules",
    schedulesQuery({ tag: "t" }, LIST, 0).sql,
    /belfry_schedule_tags USING PRIMARY KEY \(tag=\?/,
  ],
  ["failed runs", runsQuery({ states: ["failed"] }, PAGE).sql, /INDEX belfry_runs_state \(state=\?/],
  [
    "a schedule's failed runs",
    runsQuery({ scheduleId: "s", states: ["failed"] }, PAGE).sql,
    /belfry_runs_schedule_created/,
  ],
  ["all counts", countQueries({}, 10)[0]!.sql, /COVERING INDEX belfry_runs_state/],
  ["a schedule's counts", countQueries({ scheduleId: "s" }, 10)[0]!.sql, /\(schedule_id=\?\)/],
]

describe("by an index:", () => {
  for (const [what, sql, expected] of QUERIES) {
    test(what, () => {
      const plan = planOf(sql)

      assert.match(plan, expected)
      assert.doesNotMatch(plan, /SCAN belfry_(?!runs_by)\w+(?! USING)$/m, "no table is scanned")
    })
  }

  test.each(QUERIES.filter(([what]) => !what.includes("counts")))("%s: nothing is sorted", (_, sql) => {
    assert.doesNotMatch(planOf(sql), /TEMP B-TREE FOR ORDER BY/)
  })

  test("unfinished runs of a key", () => {
    const states = ["pending", "running"] as const
    const { sql } = runsQuery({ concurrencyKey: "k", states }, { ...PAGE, after: null })

    assert.match(planOf(sql), /INDEX belfry_runs_key \(concurrency_key=\?/)
  })

  test("runs by id, which are then sorted", () => {
    assert.match(planOf(runsQuery({ ids: [] }, { ...PAGE, after: null }).sql), /belfry_runs_1 \(id=\?\)/)
  })
})

function planOf(sql: string): string {
  const rows = database.prepare(`explain query plan ${sql}`).all() as { detail: string }[]
  return rows.map(({ detail }) => detail).join("\n")
}
