import type { Instant } from "../../../core/time/instant.ts"
import type { PruneRequest } from "../../../store/store.ts"
import type { Prepared } from "../prepared.ts"

/** How far a scan of the finished runs, oldest first, has come. */
export interface Place {
  readonly completedAt: Instant
  readonly id: string
}

export const FROM_THE_OLDEST: Place = { completedAt: Number.MIN_SAFE_INTEGER, id: "" }

// A finished run without `completed_at` was ended by SQL directly, without our checks. It would never be pruned, so it gets a
// `completed_at` here. By belfry_runs_without_end, which is empty unless there are such runs.
export const UPDATE_WITHOUT_END = `
  update belfry_runs
  set completed_at = ?
  where rowid in (
    select rowid
    from belfry_runs
    where completed_at is null
      and state not in ('pending', 'running')
    order by created_at
    limit ?
  )`

// By belfry_runs_completed, after a place. Newer runs of the same schedule are counted by belfry_runs_schedule_completed, up to
// `keepPerSchedule`. Runs of occurrences after their schedule's `covered_until` stay, too.
export const SELECT_OLD = `
  select id,
    completed_at,
    schedule_id is not null
    and (
      select count(*)
      from (
        select 1
        from belfry_runs as newer
        where newer.schedule_id = belfry_runs.schedule_id
          and newer.completed_at is not null
          and (newer.completed_at, newer.id) > (belfry_runs.completed_at, belfry_runs.id)
        limit ?
      )
    ) < ?
    or exists (
      select 1
      from belfry_schedules as s
      where s.id = belfry_runs.schedule_id
        and s.covered_until < belfry_runs.scheduled_for
    ) as is_kept
  from belfry_runs
  where (completed_at, id) > (?, ?)
    and completed_at < ?
  order by completed_at, id
  limit ?`

// The foreign key deletes its log, too.
const DELETE_RUN = `
  delete from belfry_runs
  where id = ?`

const DELETE_WORKERS = `
  delete from belfry_workers
  where id in (
    select id
    from belfry_workers
    where heartbeat_at < ?
    order by id
    limit ?
  )`

/** How many runs one transaction reads: a few milliseconds, so that no process waits long for the lock. */
const BATCH = 500

/** Deletes at most `limit` old runs of the next batch. `next` is where to go on. Null: no more runs are old enough. */
export function pruneRuns(
  connection: Prepared,
  request: PruneRequest,
  from: Place,
  limit: number,
  now: Instant,
): { runs: number; next: Place | null } {
  const { keepPerSchedule, olderThanMs } = request
  connection.prepare(UPDATE_WITHOUT_END).run(now, BATCH)
  const rows = connection
    .prepare(SELECT_OLD)
    .all(keepPerSchedule, keepPerSchedule, from.completedAt, from.id, now - olderThanMs, BATCH) as OldRow[]
  const prunable = rows.filter((row) => row.is_kept === 0).slice(0, limit)
  const remove = connection.prepare(DELETE_RUN)
  for (const { id } of prunable) remove.run(id)
  const last = rows[rows.length - 1]
  const isEnd = last === undefined || rows.length < BATCH
  return { runs: prunable.length, next: isEnd ? null : { completedAt: last.completed_at, id: last.id } }
}

interface OldRow {
  readonly id: string
  readonly completed_at: Instant
  readonly is_kept: number
}

export function pruneWorkers(connection: Prepared, request: PruneRequest, now: Instant): number {
  const { changes } = connection.prepare(DELETE_WORKERS).run(now - request.silentForMs, request.limit)
  return Number(changes)
}
