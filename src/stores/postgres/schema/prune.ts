import { CLOCK, NOW } from "../rows.ts"
import { engineFunction } from "./engine-function.ts"

/**
 * Looks at the next few finished runs by runs_completed, from a place on, and deletes those that needn't stay, each with its
 * log. The newest of its schedule are counted by runs_schedule_completed, as far as is needed to know. Those that their schedule
 * hasn't settled stay, too.
 *
 * A finished run without completed_at was ended by hand, such as by an update of its state. No index lists or prunes it. So it
 * gets its end here, when it is noticed, by runs_without_end: that index is empty unless there are such runs.
 */
export const PRUNE = engineFunction({
  name: "prune",
  isOfUnknownSize: true,
  takes:
    "older_than_ms bigint, up_to bigint, keep_per_schedule bigint, after_at bigint, after_id text, bite integer",
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
          limit $3
        ) as those
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
  doomed as (
    select r.id
    from page
    join belfry.runs as r on r.id = page.id
    where not page.is_kept
    order by page.completed_at, page.id
    limit $2
    -- Whoever holds one has something to do with it; there is a next time.
    for update of r skip locked
  ),
  gone as (
    delete from belfry.runs as r
    using doomed
    where r.id = doomed.id
      and r.completed_at is not null
    returning r.id
  ),
  lines as (
    delete from belfry.logs as l
    using gone
    where l.run_id = gone.id
  )
  select (select count(*) from gone), page.id, page.completed_at
  from (select 1) as always
  left join page on true
  order by page.completed_at, page.id`,
})
