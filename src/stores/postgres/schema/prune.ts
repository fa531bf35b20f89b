import { CLOCK, NOW } from "../rows.ts"
import { engineFunction } from "./engine-function.ts"

/**
 * Reads the next batch of finished runs by runs_completed, after a place, and deletes the prunable runs with their logs. Newer
 * runs of the same schedule are counted by runs_schedule_completed, up to `keep_per_schedule`. Runs of occurrences after their
 * schedule's `covered_until` stay, too.
 *
 * A finished run without `completed_at` was ended by SQL directly, such as by an update of its state. No index lists or
 * prunes it, so it gets a `completed_at` here. By runs_without_end, which is empty unless there are such runs.
 */
export const PRUNE = engineFunction({
  name: "prune",
  hasUnknownLimit: true,
  readsInIndexOrder: true,
  takes:
    "older_than_ms bigint, up_to bigint, keep_per_schedule bigint, after_at bigint, after_id text, batch_size integer",
  returns: "deleted bigint, run_id text, completed_at timestamptz",
  before: `
    update belfry.runs
    set completed_at = ${NOW}
    where id in (
      select r.id
      from belfry.runs as r
      where r.completed_at is null
        and r.state not in ('pending', 'running')
      order by r.created_at
      limit $6
      for update skip locked
    );`,
  body: `
  with ${CLOCK},
  page as materialized (
    select r.id,
      r.completed_at,
      r.schedule_id is not null
      and (
        select count(*)
        from (
          select 1
          from belfry.runs as newer
          where newer.schedule_id = r.schedule_id
            and newer.completed_at is not null
            and newer.completed_at >= r.completed_at
            and (newer.completed_at, newer.id) > (r.completed_at, r.id)
          -- Makes the planner choose runs_schedule_completed, also if the table is empty when it plans.
          order by newer.completed_at desc
          limit $3
        ) as newer_runs
      ) < $3
      or exists (
        select 1
        from belfry.schedules as s
        where s.id = r.schedule_id
          and s.covered_until < r.scheduled_for
      ) as is_kept
    from belfry.runs as r, clock
    where r.completed_at >= to_timestamp($4 / 1000.0)
      and (r.completed_at, r.id) > (to_timestamp($4 / 1000.0), $5)
      and r.completed_at < clock.now - $1 * interval '1 millisecond'
    order by r.completed_at, r.id
    limit $6
  ),
  prunable as (
    select r.id
    from page
    join belfry.runs as r on r.id = page.id
    where not page.is_kept
    order by page.completed_at, page.id
    limit $2
    -- A run that another transaction has locked is in use. A later call prunes it.
    for update of r skip locked
  ),
  deleted as (
    delete from belfry.runs as r
    using prunable
    where r.id = prunable.id
      and r.completed_at is not null
    returning r.id
  ),
  deleted_lines as (
    delete from belfry.logs as l
    using deleted
    where l.run_id = deleted.id
  )
  select (select count(*) from deleted), page.id, page.completed_at
  from (select 1) as one_row
  left join page on true
  order by page.completed_at, page.id`,
})
