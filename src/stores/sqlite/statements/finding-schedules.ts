import type { Schedule } from "../../../core/schedule/schedule.ts"
import { OVERDUE_AFTER_MS } from "../../../core/schedule/schedule-state.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { ScheduleFilter, SchedulePage } from "../../../store/store.ts"
import { type ScheduleCount, type ScheduleCounted, scheduleCountsOf } from "../../kit/counts.ts"
import { endOfPrefix } from "../../kit/id-prefix.ts"
import { lowerCase } from "../../kit/schedule-pages.ts"
import type { Value } from "../driver.ts"
import type { Prepared } from "../prepared.ts"
import { SCHEDULE_COLUMNS, type ScheduleRow, scheduleOf } from "../schedule-rows.ts"

/** By primary key, or by the index on task, owner or tag if the filter has one. Each ends in the id, so nothing is sorted. */
export function findSchedules(
  connection: Prepared,
  filter: ScheduleFilter,
  page: SchedulePage,
  now: Instant,
): readonly Schedule[] {
  const { sql, values } = schedulesQuery(filter, page, now)
  return connection.rows<ScheduleRow>(sql, values).map(scheduleOf)
}

/** A field of the definition. Null: the definition isn't JSON. */
const inDefinition = (name: string) =>
  `case when json_valid(definition) then json_extract(definition, '$.${name}') end`

/** `scheduleStateOf` in SQL. The parameter is the instant before which a due schedule is overdue. */
const STATE = `
    case
      when last_error is not null or not json_valid(definition) then 'broken'
      when finished_at is not null then 'finished'
      when not ${inDefinition("enabled")} then 'disabled'
      when paused is not null then 'paused'
      when next_run_at < ? then 'overdue'
      when failures_in_a_row > 0 then 'failing'
      when last_run_at is null then 'new'
      else 'ok'
    end`

/** Later than any instant: the order of schedules without one. */
const NEVER = Number.MAX_SAFE_INTEGER
const ORDER_KEYS = {
  nextRunAt: `coalesce(next_run_at, ${NEVER})`,
  lastRunAt: `coalesce(-last_run_at, ${NEVER})`,
} as const

interface Condition {
  readonly sql: string
  readonly values: readonly Value[]
}

export function schedulesQuery(
  filter: ScheduleFilter,
  page: SchedulePage,
  now: Instant,
): { sql: string; values: readonly Value[] } {
  const conditions = [...conditionsOf(filter, now), ...placeOf(page)]
  const where = conditions.map(({ sql }) => sql).join("\n    and ")
  return {
    sql: `
  select ${SCHEDULE_COLUMNS}
  from belfry_schedules
  ${where === "" ? "" : `where ${where}`}
  order by ${page.orderBy === "id" ? "id" : `${ORDER_KEYS[page.orderBy]}, id`}
  limit ?`,
    values: [...conditions.flatMap(({ values }) => values), page.limit],
  }
}

export function countSchedules(
  connection: Prepared,
  filter: ScheduleFilter,
  limit: number,
  now: Instant,
): ScheduleCounted {
  const conditions = conditionsOf(filter, now)
  const where = conditions.map(({ sql }) => sql).join("\n    and ")
  const rows = connection.rows<ScheduleCount>(
    `
  select task, ${STATE} as state, count(*) as schedules
  from belfry_schedules
  ${where === "" ? "" : `where ${where}`}
  group by 1, 2`,
    [now - OVERDUE_AFTER_MS, ...conditions.flatMap(({ values }) => values)],
  )
  return scheduleCountsOf(rows, limit)
}

function conditionsOf(
  { ids, idPrefix, owner, task, tag, text, states }: ScheduleFilter,
  now: Instant,
): readonly Condition[] {
  const conditions: Condition[] = []
  const add = (sql: string, ...values: readonly Value[]) => conditions.push({ sql, values })
  if (ids !== undefined) add("id in (select value from json_each(?))", JSON.stringify(ids))
  if (idPrefix !== undefined) add("id >= ? and id < ?", idPrefix, endOfPrefix(idPrefix))
  if (owner !== undefined) add("owner = ?", owner)
  if (task !== undefined) add("task = ?", task)
  if (tag !== undefined) add("id in (select schedule_id from belfry_schedule_tags where tag = ?)", tag)
  if (text !== undefined) {
    const parts = ["id", "task", inDefinition("description")]
    const wanted = lowerCase(text)
    add(`(${parts.map((part) => `instr(lower(${part}), ?) > 0`).join(" or ")})`, wanted, wanted, wanted)
  }
  if (states !== undefined)
    add(`${STATE} in (select value from json_each(?))`, now - OVERDUE_AFTER_MS, JSON.stringify(states))
  return conditions
}

function placeOf({ orderBy, after }: SchedulePage): readonly Condition[] {
  if (after === null) return []
  if (orderBy === "id") return [{ sql: "id > ?", values: [after.id] }]
  const at = after.at === null ? NEVER : orderBy === "nextRunAt" ? after.at : -after.at
  return [{ sql: `(${ORDER_KEYS[orderBy]}, id) > (?, ?)`, values: [at, after.id] }]
}
