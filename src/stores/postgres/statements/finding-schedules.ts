import type { Schedule } from "../../../core/schedule.ts"
import { OVERDUE_AFTER_MS, type ScheduleCounts } from "../../../core/schedule-state.ts"
import type { ScheduleFilter, SchedulePage } from "../../../store/store.ts"
import { scheduleCountsOf } from "../../kit/counts.ts"
import { endOfPrefix } from "../../kit/id-prefix.ts"
import { lowerCase } from "../../kit/schedule-pages.ts"
import type { Runner } from "../database.ts"
import { instantFrom, NOW } from "../rows.ts"
import { countsOf, countsOfAll, scheduleColumns, scheduleOf, tallyColumn } from "../schedule-rows.ts"

export async function findSchedules(
  runner: Runner,
  filter: ScheduleFilter,
  page: SchedulePage,
): Promise<readonly Schedule[]> {
  const { text, values } = schedulesQuery(filter, page)
  return (await runner.rows(text, values)).map((row) => scheduleOf(row))
}

/** As `scheduleStateOf` has it. The clock is read once. */
const STATE = `
    case
      when s.last_error is not null then 'broken'
      when s.finished_at is not null then 'finished'
      when not s.enabled then 'disabled'
      when s.paused is not null then 'paused'
      when s.next_run_at < (select ${NOW} - interval '${OVERDUE_AFTER_MS} milliseconds') then 'overdue'
      when e.failures_in_a_row > 0 then 'failing'
      when ${tallyColumn("s", "last_run_at")} is null then 'new'
      else 'ok'
    end`

/** Where a schedule is in an order, the last of all if it has no such instant. */
const PLACES = {
  nextRunAt: "coalesce(s.next_run_at, 'infinity')",
  lastRunAt: `coalesce(${tallyColumn("s", "last_run_at")}, '-infinity')`,
} as const

const DIRECTIONS = {
  id: "s.id",
  nextRunAt: `${PLACES.nextRunAt}, s.id`,
  lastRunAt: `${PLACES.lastRunAt} desc, s.id`,
}

/** By primary key, or by the index on task, owner or tags where one is named. */
export function schedulesQuery(
  filter: ScheduleFilter,
  page: SchedulePage,
): { text: string; values: readonly unknown[] } {
  const values: unknown[] = []
  const conditions: string[] = []
  const parameter = (value: unknown) => `$${values.push(value)}`
  addFilter(filter, conditions, parameter)
  addPlace(page, conditions, parameter)
  // Which they are is found first, and how their runs went is looked up for those alone, unless it says which they are.
  const isByTally = filter.states !== undefined || page.orderBy === "lastRunAt"
  return {
    text: `
  select ${scheduleColumns("s")}
  from (
    select s.*
    from belfry.schedules as s${isByTally ? countsOfAll("s") : ""}
    ${conditions.length === 0 ? "" : `where ${conditions.join("\n      and ")}`}
    order by ${DIRECTIONS[page.orderBy]}
    limit ${parameter(page.limit)}
  ) as s${countsOf("s")}
  order by ${DIRECTIONS[page.orderBy]}`,
    values,
  }
}

export async function countSchedules(
  runner: Runner,
  filter: ScheduleFilter,
  limit: number,
): Promise<ScheduleCounts> {
  const values: unknown[] = []
  const conditions: string[] = []
  addFilter(filter, conditions, (value) => `$${values.push(value)}`)
  const rows = await runner.rows(
    `
  select ${STATE}, pg_catalog.count(*)
  from belfry.schedules as s${countsOfAll("s")}
  ${conditions.length === 0 ? "" : `where ${conditions.join("\n    and ")}`}
  group by 1`,
    values,
  )
  return scheduleCountsOf(
    rows.map(([state, schedules]) => [state!, Number(schedules)]),
    limit,
  )
}

type Parameter = (value: unknown) => string

function addFilter(filter: ScheduleFilter, conditions: string[], parameter: Parameter): void {
  const { ids, idPrefix, owner, task, tag, text, states } = filter
  if (ids !== undefined) conditions.push(`s.id = any (${parameter(ids)}::text[])`)
  if (idPrefix !== undefined) {
    conditions.push(`s.id >= ${parameter(idPrefix)}`)
    conditions.push(`s.id < ${parameter(endOfPrefix(idPrefix))}`)
  }
  if (owner !== undefined) conditions.push(`s.owner = ${parameter(owner)}`)
  if (task !== undefined) conditions.push(`s.task = ${parameter(task)}`)
  if (tag !== undefined) conditions.push(`${parameter(tag)}::text = any (s.tags)`)
  if (text !== undefined) {
    const wanted = parameter(lowerCase(text))
    const found = ["id", "task", "description"].map(
      (column) => `pg_catalog.strpos(pg_catalog.lower(s.${column} collate "C"), ${wanted}) > 0`,
    )
    conditions.push(`(${found.join(" or ")})`)
  }
  if (states !== undefined) conditions.push(`${STATE} = any (${parameter(states)}::text[])`)
}

function addPlace({ orderBy, after }: SchedulePage, conditions: string[], parameter: Parameter): void {
  if (orderBy === "id") {
    if (after !== null) conditions.push(`s.id > ${parameter(after.id)}`)
    return
  }
  if (after === null) return
  const place = PLACES[orderBy]
  const id = parameter(after.id)
  const none = orderBy === "nextRunAt" ? "'infinity'::timestamptz" : "'-infinity'::timestamptz"
  const at = after.at === null ? none : instantFrom(parameter(after.at))
  const later = orderBy === "nextRunAt" ? ">" : "<"
  conditions.push(`(${place} ${later} ${at} or (${place} = ${at} and s.id > ${id}))`)
}
