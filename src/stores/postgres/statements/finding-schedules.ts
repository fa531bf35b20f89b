import type { Schedule } from "../../../core/schedule/schedule.ts"
import { OVERDUE_AFTER_MS } from "../../../core/schedule/schedule-state.ts"
import type { ScheduleFilter, SchedulePage } from "../../../store/store.ts"
import { type ScheduleCounted, scheduleCountsOf } from "../../kit/counts.ts"
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

/** `scheduleStateOf` in SQL. The clock is read once. */
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

/** The instant by which schedules are sorted. A schedule without one comes last. */
const SORT_INSTANTS = {
  nextRunAt: "coalesce(s.next_run_at, 'infinity')",
  lastRunAt: `coalesce(${tallyColumn("s", "last_run_at")}, '-infinity')`,
} as const

const ORDERS = {
  id: "s.id",
  nextRunAt: `${SORT_INSTANTS.nextRunAt}, s.id`,
  lastRunAt: `${SORT_INSTANTS.lastRunAt} desc, s.id`,
}

/** By primary key, or by the index on task, owner or tags if the filter has one. */
export function schedulesQuery(
  filter: ScheduleFilter,
  page: SchedulePage,
): { text: string; values: readonly unknown[] } {
  const values: unknown[] = []
  const conditions: string[] = []
  const parameter = (value: unknown) => `$${values.push(value)}`
  addFilter(filter, conditions, parameter)
  addPageStart(page, conditions, parameter)
  // The page is selected first, and counts are read only for its schedules, unless the filter or the order needs the counts.
  const needsCounts = filter.states !== undefined || page.orderBy === "lastRunAt"
  return {
    text: `
  select ${scheduleColumns("s")}
  from (
    select s.*
    from belfry.schedules as s${needsCounts ? countsOfAll("s") : ""}
    ${conditions.length === 0 ? "" : `where ${conditions.join("\n      and ")}`}
    order by ${ORDERS[page.orderBy]}
    limit ${parameter(page.limit)}
  ) as s${countsOf("s")}
  order by ${ORDERS[page.orderBy]}`,
    values,
  }
}

export async function countSchedules(
  runner: Runner,
  filter: ScheduleFilter,
  limit: number,
): Promise<ScheduleCounted> {
  const values: unknown[] = []
  const conditions: string[] = []
  addFilter(filter, conditions, (value) => `$${values.push(value)}`)
  const rows = await runner.rows(
    `
  select s.task, ${STATE}, pg_catalog.count(*)
  from belfry.schedules as s${countsOfAll("s")}
  ${conditions.length === 0 ? "" : `where ${conditions.join("\n    and ")}`}
  group by 1, 2`,
    values,
  )
  return scheduleCountsOf(
    rows.map(([task, state, schedules]) => [task!, state!, Number(schedules)]),
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
    const matches = ["id", "task", "description"].map(
      (column) => `pg_catalog.strpos(pg_catalog.lower(s.${column} collate "C"), ${wanted}) > 0`,
    )
    conditions.push(`(${matches.join(" or ")})`)
  }
  if (states !== undefined) conditions.push(`${STATE} = any (${parameter(states)}::text[])`)
}

function addPageStart({ orderBy, after }: SchedulePage, conditions: string[], parameter: Parameter): void {
  if (orderBy === "id") {
    if (after !== null) conditions.push(`s.id > ${parameter(after.id)}`)
    return
  }
  if (after === null) return
  const instant = SORT_INSTANTS[orderBy]
  const id = parameter(after.id)
  const none = orderBy === "nextRunAt" ? "'infinity'::timestamptz" : "'-infinity'::timestamptz"
  const at = after.at === null ? none : instantFrom(parameter(after.at))
  const comparison = orderBy === "nextRunAt" ? ">" : "<"
  conditions.push(`(${instant} ${comparison} ${at} or (${instant} = ${at} and s.id > ${id}))`)
}
