import type { OptionTable, OptionType } from "../../src/core/options/checked.ts"
import { LOCK_OPTIONS } from "../../src/lock/locks.ts"
import { JSON_LOGGER_OPTIONS } from "../../src/runtime/logger.ts"
import { MANY_OPTIONS } from "../../src/scheduler/many.ts"
import { ENQUEUE_OPTIONS } from "../../src/scheduler/runs/enqueue.ts"
import { LOG_PAGE, RETRY_OPTIONS, RUN_QUERY } from "../../src/scheduler/runs/run-options.ts"
import { SCHEDULER_OPTIONS } from "../../src/scheduler/scheduler-options.ts"
import { APPLY_OPTIONS } from "../../src/scheduler/schedules/apply.ts"
import { LEDGER_PAGE } from "../../src/scheduler/schedules/ledger.ts"
import {
  BACKFILL_OPTIONS,
  CREATE_OPTIONS,
  PAUSE_OPTIONS,
  PLAN_BACKFILL_OPTIONS,
  PREVIEW_OPTIONS,
  PUT_BASE,
  SCHEDULE_QUERY,
  UPDATE_BASE,
} from "../../src/scheduler/schedules/steering-options.ts"
import { TRIGGER_NOW_OPTIONS } from "../../src/scheduler/schedules/trigger.ts"
import { SEARCH_OPTIONS } from "../../src/scheduler/search.ts"
import { STATISTICS_QUERY } from "../../src/scheduler/statistics.ts"
import { JOURNAL_QUERY } from "../../src/scheduler/stored-journal.ts"
import { POSTGRES_LOCKS_OPTIONS, POSTGRES_OPTIONS } from "../../src/stores/postgres/options.ts"
import { REDIS_LOCKS_OPTIONS, REDIS_STORE_OPTIONS } from "../../src/stores/redis/options.ts"
import { SQLITE_OPTIONS } from "../../src/stores/sqlite/options.ts"
import { TASK_OPTIONS } from "../../src/task/task.ts"
import { COMMAND_TASK_OPTIONS } from "../../src/tasks/command/command-task.ts"
import { HTTP_TASK_OPTIONS } from "../../src/tasks/http/http-task.ts"
import { SQL_FUNCTIONS_OPTIONS } from "../../src/tasks/sql/sql-functions.ts"

const SOURCES: readonly (readonly [source: string, table: OptionTable])[] = [
  ["createScheduler", SCHEDULER_OPTIONS],
  ["defineTask", TASK_OPTIONS],
  ["schedules.create", CREATE_OPTIONS],
  ["schedules.put", PUT_BASE],
  ["schedules.apply", APPLY_OPTIONS],
  ["schedules.list", SCHEDULE_QUERY],
  ["schedules.update", UPDATE_BASE],
  ["schedules.pause", PAUSE_OPTIONS],
  ["schedules.trigger", TRIGGER_NOW_OPTIONS],
  ["schedules.preview", PREVIEW_OPTIONS],
  ["schedules.occurrences", LEDGER_PAGE],
  ["schedules.planBackfill", PLAN_BACKFILL_OPTIONS],
  ["schedules.backfill", BACKFILL_OPTIONS],
  ["of many", MANY_OPTIONS],
  ["enqueue", ENQUEUE_OPTIONS],
  ["runs.list", RUN_QUERY],
  ["runs.retry", RETRY_OPTIONS],
  ["runs.logs", LOG_PAGE],
  ["search", SEARCH_OPTIONS],
  ["journal.list", JOURNAL_QUERY],
  ["statistics", STATISTICS_QUERY],
  ["locks.acquire", LOCK_OPTIONS],
  ["postgres", POSTGRES_OPTIONS],
  ["postgresLocks", POSTGRES_LOCKS_OPTIONS],
  ["sqlFunctions", SQL_FUNCTIONS_OPTIONS],
  ["redis", REDIS_STORE_OPTIONS],
  ["redisLocks", REDIS_LOCKS_OPTIONS],
  ["sqlite", SQLITE_OPTIONS],
  ["httpTask", HTTP_TASK_OPTIONS],
  ["commandTask", COMMAND_TASK_OPTIONS],
  ["jsonLogger", JSON_LOGGER_OPTIONS],
]

/** A row for each option, and for each option inside an object. */
function rowsOf(
  source: string,
  name: string,
  { allowed, table, isRequired }: OptionType<unknown>,
): readonly string[] {
  const own = `| \`${source}\` | \`${name}\` | ${allowed}${isRequired ? "; required" : ""} |`
  // The options of a trigger are those of a schedule.
  if (table === undefined || name === "triggers") return [own]
  return [own, ...Object.entries(table).flatMap(([inner, kind]) => rowsOf(source, `${name}.${inner}`, kind))]
}

/** The rows of options in `docs/reference/api.md`. */
export function optionRows(): readonly string[] {
  return SOURCES.flatMap(([source, table]) =>
    Object.entries(table).flatMap(([name, kind]) => rowsOf(source, name, kind)),
  )
}
