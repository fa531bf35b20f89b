import { UNFINISHED_FACTS_MAX } from "../../../core/planning/plan.ts"
import {
  SHARE_AHEAD_MAX_MS,
  SHARE_MS,
  SHARE_MS_EACH,
  SHARES,
  SHARES_BESIDE_OTHERS,
} from "../../kit/shares.ts"
import { CLOCK, ms } from "../rows.ts"
import { countsOf, SCHEDULE_TYPES, scheduleColumns } from "../schedule-rows.ts"
import { engineFunction } from "./engine-function.ts"

/**
 * Returns the schedules that are due within `$4` ms, by schedules_due, each with the facts that a plan needs. Also returns
 * when the next schedules are due.
 *
 * first            The `$2` longest due schedules, each with its share.
 * due_shares       How many of these schedules each share has.
 * others           The shares that are given to other processes.
 * free             The shares to take: shares of this reader (`$3`), and shares that no process has now. A row that another
 *                  read has locked is being taken, so it is skipped.
 * taken            The shares that this reader has from now on, for as long as `shareMsFor` says.
 * taken_schedules  The schedules of the taken shares, at most `$1`.
 * due_together     How many schedules are due at the next instant, at most `$1`.
 * read_again       When to read again.
 *
 * The clock is read by a subquery. With a join, the comparison would be a filter, and the whole index would be read.
 */
export const DUE = engineFunction({
  name: "due",
  hasUnknownLimit: true,
  takes: "up_to integer, divided integer, reader bigint, ahead_ms integer",
  returns: `read_at float8, next_at float8, next_count integer, unfinished json, ${SCHEDULE_TYPES}`,
  before: `
    -- The table is unlogged: a crash of the server empties it.
    if $1 > 0 and not exists (select 1 from belfry.shares) then
      insert into belfry.shares (share, given_to, given_until)
      select share, 0, '-infinity'
      from generate_series(0, ${SHARES - 1}) as share
      on conflict do nothing;
    end if;`,
  body: `
  with ${CLOCK},
  horizon as materialized (
    select clock.now + $4 * interval '1 millisecond' as at
    from clock
  ),
  first as materialized (
    select s.id, hashtext(s.id) & ${SHARES - 1} as share
    from belfry.schedules as s
    where s.next_run_at <= (select horizon.at from horizon)
    order by s.next_run_at
    limit $2
  ),
  due_shares as materialized (
    select first.share, count(*) as due
    from first
    group by first.share
  ),
  others as materialized (
    select s.given_until, due_shares.due
    from due_shares
    join belfry.shares as s on s.share = due_shares.share
    where s.given_until > (select clock.now from clock)
      and s.given_to <> $3
  ),
  counted as materialized (
    select all_due.due,
      (select coalesce(sum(others.due), 0) from others) as due_of_others,
      greatest(${SHARE_MS} + all_due.due * ${SHARE_MS_EACH}, least($4 / 2, ${SHARE_AHEAD_MAX_MS}))
        * interval '1 millisecond' as share_time
    from (select count(*) as due from first) as all_due
  ),
  free as materialized (
    select s.share
    from due_shares
    join belfry.shares as s on s.share = due_shares.share
    where s.given_to = $3
      or s.given_until <= (select clock.now from clock)
    order by due_shares.due desc
    limit (
      select least(
        ceil(${SHARES}.0 * $1 / nullif(counted.due, 0)),
        case when counted.due_of_others > 0 then ${SHARES_BESIDE_OTHERS} else ${SHARES} end
      )
      from counted
    )
    for update of s skip locked
  ),
  taken as (
    update belfry.shares as s
    set given_to = $3,
      given_until = date_trunc('milliseconds', clock.now + counted.share_time)
    from free, clock, counted
    where s.share = free.share
    returning s.share
  ),
  taken_schedules as materialized (
    select first.id
    from first
    where first.share = any (array(select taken.share from taken))
    limit $1
  ),
  due as materialized (
    select s.*
    from taken_schedules
    join belfry.schedules as s on s.id = taken_schedules.id
  ),
  next as materialized (
    select min(s.next_run_at) as at
    from belfry.schedules as s
    where s.next_run_at > (select horizon.at from horizon)
  ),
  due_together as materialized (
    select count(*)::integer as size
    from (
      select 1
      from belfry.schedules as s
      where s.next_run_at = (select next.at from next)
      limit $1
    ) as same_instant
  ),
  read_again as materialized (
    select case
      when returned.count >= least($1, counted.due) then next.at
      -- The remaining schedules are free: read again at once.
      when returned.count > 0 and returned.count + counted.due_of_others < counted.due then clock.now
      -- Other processes have the remaining schedules: read again when these should have been fired.
      else least(
        next.at,
        coalesce(
          (select min(others.given_until) from others),
          clock.now + counted.share_time
        )
      )
    end as at
    from clock
    cross join next
    cross join counted
    cross join (select count(*) as count from taken_schedules) as returned
  )
  select ${ms("clock.now")},
    ${ms("read_again.at")},
    case when read_again.at = next.at then due_together.size else 0 end,
    (
      select json_agg(json_build_array(u.id, u.state, u.attempt, u.failures, u.lost))
      from (
        -- By runs_key, one state at a time: both together would be sorted, and a schedule may have 10,000 pending runs. The
        -- longest due of these are the oldest.
        select r.id, r.state, r.attempt, r.failures, r.lost
        from (values ('pending'), ('running')) as unfinished(state)
        cross join lateral (
          select r.id, r.state, r.attempt, r.failures, r.lost, r.created_at
          from belfry.runs as r
          where r.concurrency_key = 'schedule:' || due.id
            and r.state = unfinished.state
            and r.state in ('pending', 'running')
          order by r.claimable_at
          limit ${UNFINISHED_FACTS_MAX}
        ) as r
        order by r.created_at
        limit ${UNFINISHED_FACTS_MAX}
      ) as u
    ),
    ${scheduleColumns("due")}
  from clock
  cross join next
  cross join due_together
  cross join read_again
  left join due on true${countsOf("due")}
  order by due.next_run_at`,
})
