import { type DueFacts, UNFINISHED_FACTS_MAX } from "../../../core/planning/plan.ts"
import type { RunRef } from "../../../core/run/run.ts"
import { concurrencyKeyOf, type Schedule } from "../../../core/schedule/schedule.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { DueRequest, DueSchedules } from "../../../store/store.ts"
import {
  DIVIDED_MAX,
  nextOf,
  type Reading,
  readAgainAt,
  SHARES,
  type Share,
  shareMsFor,
  sharesToTake,
} from "../../kit/shares.ts"
import type { Prepared } from "../prepared.ts"
import { SCHEDULE_COLUMNS, type ScheduleRow, scheduleOf } from "../schedule-rows.ts"

// All use belfry_schedules_due: ranges from its beginning, one seek, and a range of one instant. A schedule's share comes from
// its rowid, which every index holds, so rows of other shares are skipped without being read.
export const SELECT_SHARES = `
  select first.share, count(*) as due, coalesce(given_to, 0) as givenTo, coalesce(given_until, 0) as givenUntil
  from (
    select rowid & ${SHARES - 1} as share
    from belfry_schedules
    where next_run_at <= ?
    order by next_run_at
    limit ?
  ) as first
  left join belfry_shares on belfry_shares.share = first.share
  group by first.share`

export const SELECT_DUE = `
  select ${SCHEDULE_COLUMNS}
  from belfry_schedules
  where next_run_at <= ?
    and 1 << (rowid & ${SHARES - 1}) & ?
  order by next_run_at
  limit ?`

const TAKE_SHARE = `
  insert into belfry_shares (share, given_to, given_until)
  values (?, ?, ?)
  on conflict (share) do update
  set given_to = excluded.given_to,
    given_until = excluded.given_until`

export const SELECT_NEXT_DUE = `
  select min(next_run_at) as next
  from belfry_schedules
  where next_run_at > ?
    and next_run_at <= ${Number.MAX_SAFE_INTEGER}`

export const COUNT_NEXT_DUE = `
  select count(*) as count
  from (select 1 from belfry_schedules where next_run_at = ? limit ?)`

const REF_COLUMNS = "id, state, attempt, failures, lost, created_at"

// Most schedules have no unfinished runs. One statement finds those that have some.
export const SELECT_BUSY = `
  select value as key
  from json_each(?)
  where exists (
    select 1
    from belfry_runs
    where concurrency_key = value
      and state in ('pending', 'running')
  )`

// By belfry_runs_key, which holds each state in the order of creation. One state at a time, so that nothing is sorted: a key may
// have a hundred thousand pending runs.
export const SELECT_UNFINISHED = `
  select ${REF_COLUMNS}
  from belfry_runs
  where concurrency_key = ?
    and state = ?
    and state in ('pending', 'running')
  order by created_at
  limit ${UNFINISHED_FACTS_MAX}`

// By belfry_runs_schedule_completed, from the newest run back to a success: the index holds the state.
// A run may have been pruned, and runs of local schedules have no schedule in the table. So both are read.
export const SELECT_LAST_SUCCESS = `
  select max(at) as last_success_at
  from (
    select last_success_at as at
    from belfry_schedules
    where id = ?1
    union all
    select completed_at
    from (
      select completed_at
      from belfry_runs
      where schedule_id = ?1
        and completed_at is not null
        and state = 'succeeded'
      order by completed_at desc
      limit 1
    )
  )`

/** The shares with due schedules, and the shares that the read takes. */
interface Found {
  readonly shares: readonly Share[]
  readonly taken: readonly Share[]
}

function find(connection: Prepared, { limit, aheadMs = 0 }: DueRequest, reading: Reading): Found {
  const { now } = reading
  const divided = Math.max(limit, DIVIDED_MAX)
  const shares = connection.prepare(SELECT_SHARES).all(now + aheadMs, divided) as unknown as Share[]
  return { shares, taken: sharesToTake(shares, { ...reading, limit }) }
}

/** The answer if there is no share to take, which needs no lock. Null: there is one. */
export function dueWithoutLock(
  connection: Prepared,
  request: DueRequest,
  reading: Reading,
): DueSchedules | null {
  const found = find(connection, request, reading)
  return found.taken.length > 0 ? null : answerOf(connection, request, reading, found)
}

export function dueSchedules(connection: Prepared, request: DueRequest, reading: Reading): DueSchedules {
  const found = find(connection, request, reading)
  const due = found.shares.reduce((sum, share) => sum + share.due, 0)
  const until = reading.now + shareMsFor({ due, aheadMs: request.aheadMs ?? 0 })
  const take = connection.prepare(TAKE_SHARE)
  for (const { share } of found.taken) take.run(share, reading.reader, until)
  return answerOf(connection, request, reading, found)
}

function answerOf(
  connection: Prepared,
  { limit, aheadMs = 0 }: DueRequest,
  reading: Reading,
  { shares, taken }: Found,
): DueSchedules {
  const { now } = reading
  const mask = taken.reduce((bits, { share }) => bits | (1 << share), 0)
  const rows = mask === 0 ? [] : connection.rows<ScheduleRow>(SELECT_DUE, [now + aheadMs, mask, limit])
  const { next } = connection.prepare(SELECT_NEXT_DUE).get(now + aheadMs) as { next: Instant | null }
  const { count } = connection.prepare(COUNT_NEXT_DUE).get(next, limit) as { count: number }
  const schedules = rows.map(scheduleOf)
  const busy = busyKeys(connection, schedules)
  const due = schedules.map((schedule) => ({ schedule, facts: factsOf(connection, schedule, busy) }))
  const again = rows.length < limit ? readAgainAt(shares, rows.length, reading) : null
  return { now, due, ...nextOf({ at: next, count }, again) }
}

function busyKeys(connection: Prepared, schedules: readonly Schedule[]): ReadonlySet<string> {
  const keys = JSON.stringify(schedules.map(({ id }) => concurrencyKeyOf(id)))
  const rows = connection.prepare(SELECT_BUSY).all(keys) as { key: string }[]
  return new Set(rows.map(({ key }) => key))
}

function factsOf(connection: Prepared, schedule: Schedule, busy: ReadonlySet<string>): DueFacts {
  const key = concurrencyKeyOf(schedule.id)
  return {
    unfinished: busy.has(key) ? unfinishedOf(connection, key) : [],
    lastSuccessAt: Object.fromEntries(
      schedule.dependsOn.map(({ scheduleId }) => [scheduleId, lastSuccessOf(connection, scheduleId)]),
    ),
  }
}

function unfinishedOf(connection: Prepared, key: string): readonly RunRef[] {
  const statement = connection.prepare(SELECT_UNFINISHED)
  const found = [...statement.all(key, "running"), ...statement.all(key, "pending")] as RefRow[]
  return found
    .sort((a, b) => a.created_at - b.created_at)
    .slice(0, UNFINISHED_FACTS_MAX)
    .map(({ id, state, attempt, failures, lost }) => ({ id, state, attempt, failures, lost }))
}

type RefRow = RunRef & { readonly created_at: Instant }

function lastSuccessOf(connection: Prepared, scheduleId: string): Instant | null {
  const row = connection.prepare(SELECT_LAST_SUCCESS).get(scheduleId)
  return (row as { last_success_at: Instant | null }).last_success_at
}
