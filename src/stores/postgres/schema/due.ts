import { UNFINISHED_FACTS_MAX } from "../../../core/plan.ts"
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
 * Schedules that are due in `$4` milliseconds, by schedules_due, each with the facts a plan needs; and when the next ones are.
 *
 * first     The longest due, `$2` of them, each with its share.
 * others    Those of these shares that were just given to other processes.
 * free      The shares to take: those of this reader, `$3`, and those that are nobody's. A row that another read holds is being
 *           taken by it, so it is skipped.
 * taken     They are this reader's for a moment: see shareMsFor.
 * own       The schedules of these shares, `$1` at most.
 * again     When to read again.
 *
 * The clock is asked by a subquery: joined, it would be a filter, and the whole index would be walked.
 */
export const DUE = engineFunction({
  name: "due",
  isOfUnknownSize: true,
  takes: "up_to integer, among integer, reader bigint, ahead_ms integer",
  returns: `read_at float8, next_at float8, next_count integer, unfinished json, ${SCHEDULE_TYPES}`,
  before: `
    -- A crash empties the table.
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
  filled as materialized (
    select first.share, count(*) as due
    from first
    group by first.share
  ),
  others as materialized (
    select s.given_until, filled.due
    from filled
    join belfry.shares as s on s.share = filled.share
    where s.given_until > (select clock.now from clock)
      and s.given_to <> $3
  ),
  counted as materialized (
    select filled.due,
      (select coalesce(sum(others.due), 0) from others) as due_of_others,
      greatest(${SHARE_MS} + filled.due * ${SHARE_MS_EACH}, least($4 / 2, ${SHARE_AHEAD_MAX_MS}))
        * interval '1 millisecond' as share_time
    from (select count(*) as due from first) as filled
  ),
  free as materialized (
    select s.share
    from filled
    join belfry.shares as s on s.share = filled.share
    where s.given_to = $3
      or s.given_until <= (select clock.now from clock)
    order by filled.due desc
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
  own as materialized (
    select first.id
    from first
    where first.share = any (array(select taken.share from taken))
    limit $1
  ),
  due as materialized (
    select s.*
    from own
    join belfry.schedules as s on s.id = own.id
  ),
  next as materialized (
    select min(s.next_run_at) as at
    from belfry.schedules as s
    where s.next_run_at > (select horizon.at from horizon)
  ),
  crowd as materialized (
    select count(*)::integer as size
    from (
      select 1
      from belfry.schedules as s
      where s.next_run_at = (select next.at from next)
      limit $1
    ) as counted
  ),
  again as materialized (
    select case
      when given.count >= least($1, counted.due) then next.at
      -- The rest is free: come again at once.
      when given.count > 0 and given.count + counted.due_of_others < counted.due then clock.now
      -- Others have the rest: come again when they should have fired it.
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
    cross join (select count(*) as count from own) as given
  )
  select ${ms("clock.now")},
    ${ms("again.at")},
    case when again.at = next.at then crowd.size else 0 end,
    (
      select json_agg(json_build_array(u.id, u.state, u.attempt, u.failures, u.lost))
      from (
        -- By runs_key, one state at a time: both together would be sorted, and a schedule may have 10,000 runs that wait. Of those,
        -- the longest due are the oldest.
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
  cross join crowd
  cross join again
  left join due on true${countsOf("due")}
  order by due.next_run_at`,
})
