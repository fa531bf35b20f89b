import type { Instant } from "../../../core/instant.ts"
import { type FireFacts, UNFINISHED_FACTS_MAX } from "../../../core/plan.ts"
import type { RunRef } from "../../../core/run.ts"
import { concurrencyKeyOf, type Schedule } from "../../../core/schedule.ts"
import type { DueRequest, DueSchedules } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { SCHEDULE_COLUMNS, type ScheduleRow, scheduleOf } from "../schedule-rows.ts"

// All by belfry_schedules_due: a range from its beginning, one seek, and a range of one instant.
export const SELECT_DUE = `
  select ${SCHEDULE_COLUMNS}
  from belfry_schedules
  where next_run_at <= ?
  order by next_run_at
  limit ?`

export const SELECT_NEXT_DUE = `
  select min(next_run_at) as next
  from belfry_schedules
  where next_run_at > ?`

export const COUNT_NEXT_DUE = `
  select count(*) as count
  from (select 1 from belfry_schedules where next_run_at = ? limit ?)`

const REF_COLUMNS = "id, state, attempt, failures, lost, created_at"

// Most have none, and that is known for all of them by one statement.
export const SELECT_BUSY = `
  select value as key
  from json_each(?)
  where exists (
    select 1
    from belfry_runs
    where concurrency_key = value
      and state in ('pending', 'running')
  )`

// By belfry_runs_key, which has each state in the order of age. One state at a time, so that nothing is sorted: a key may
// have a hundred thousand runs waiting.
export const SELECT_UNFINISHED = `
  select ${REF_COLUMNS}
  from belfry_runs
  where concurrency_key = ?
    and state = ?
    and state in ('pending', 'running')
  order by created_at
  limit ${UNFINISHED_FACTS_MAX}`

// By belfry_runs_schedule_completed, from its newest back to the first success: the state is in the index.
export const SELECT_LAST_SUCCESS = `
  select completed_at
  from belfry_runs
  where schedule_id = ?
    and completed_at is not null
    and state = 'succeeded'
  order by completed_at desc
  limit 1`

export function dueSchedules(
  connection: Connection,
  { limit, aheadMs = 0 }: DueRequest,
  now: Instant,
): DueSchedules {
  const rows = connection.rows<ScheduleRow>(SELECT_DUE, [now + aheadMs, limit])
  const { next } = connection.prepare(SELECT_NEXT_DUE).get(now + aheadMs) as { next: Instant | null }
  const { count } = connection.prepare(COUNT_NEXT_DUE).get(next, limit) as { count: number }
  const schedules = rows.map(scheduleOf)
  const busy = busyKeys(connection, schedules)
  const due = schedules.map((schedule) => ({ schedule, facts: factsOf(connection, schedule, busy) }))
  return { now, due, nextDueAt: next, nextDueCount: count }
}

function busyKeys(connection: Connection, schedules: readonly Schedule[]): ReadonlySet<string> {
  const keys = JSON.stringify(schedules.map(({ id }) => concurrencyKeyOf(id)))
  const rows = connection.prepare(SELECT_BUSY).all(keys) as { key: string }[]
  return new Set(rows.map(({ key }) => key))
}

function factsOf(connection: Connection, schedule: Schedule, busy: ReadonlySet<string>): FireFacts {
  const key = concurrencyKeyOf(schedule.id)
  return {
    unfinished: busy.has(key) ? unfinishedOf(connection, key) : [],
    lastSuccessAt: Object.fromEntries(
      schedule.dependsOn.map(({ scheduleId }) => [scheduleId, lastSuccessOf(connection, scheduleId)]),
    ),
  }
}

function unfinishedOf(connection: Connection, key: string): readonly RunRef[] {
  const statement = connection.prepare(SELECT_UNFINISHED)
  const found = [...statement.all(key, "running"), ...statement.all(key, "pending")] as RefRow[]
  return found
    .sort((a, b) => a.created_at - b.created_at)
    .slice(0, UNFINISHED_FACTS_MAX)
    .map(({ id, state, attempt, failures, lost }) => ({ id, state, attempt, failures, lost }))
}

type RefRow = RunRef & { readonly created_at: Instant }

function lastSuccessOf(connection: Connection, scheduleId: string): Instant | null {
  const row = connection.prepare(SELECT_LAST_SUCCESS).get(scheduleId)
  return (row as { completed_at: Instant } | undefined)?.completed_at ?? null
}
