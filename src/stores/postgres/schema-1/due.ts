import { UNFINISHED_FACTS_MAX } from "../../../core/plan.ts"
import { CLOCK, ms } from "../rows.ts"
import { SCHEDULE_TYPES, scheduleColumns } from "../schedule-rows.ts"
import { engineFunction } from "./engine-function.ts"

/**
 * Schedules that are due in `$5` milliseconds, by schedules_due, each with the facts a plan needs; and when the next ones are.
 *
 * first     The longest due, `$2` of them.
 * turn      A number that every look takes, but for one that asks for none; and into how many shares the first are divided: as
 *           many as the crew, which is `$3` or as many as have looked since our last turn, `$4`; or as whole calls of `$1`. It is
 *           rounded up to a power of two, so that those who are of two minds about it still agree.
 * own       This turn's share, by the schedules' ids: those who look at the same moment have different ones.
 * chosen    If there is nothing in it, one of the others': they are at it, or have died.
 *
 * So processes that wake for the same thousand schedules read different ones, however many they are. The clock is asked by a
 * subquery: joined, it would be a filter, and the whole index would be walked.
 */
export const DUE = engineFunction({
  name: "due",
  isOfUnknownSize: true,
  takes: "up_to integer, among integer, crew integer, last_turn bigint, ahead_ms integer",
  returns: `read_at float8, next_at float8, next_count integer, turn bigint, unfinished json, ${SCHEDULE_TYPES}`,
  body: `
  with ${CLOCK},
  horizon as materialized (
    select clock.now + $5 * interval '1 millisecond' as at
    from clock
  ),
  first as materialized (
    select s.id, hashtext(s.id) as hash
    from belfry.schedules as s
    where s.next_run_at <= (select horizon.at from horizon)
    order by s.next_run_at
    limit $2
  ),
  turn as materialized (
    select taken.number,
      found.count as found,
      1 << ceil(
        log(least(greatest($3, taken.number - coalesce($4, taken.number), found.count / greatest($1, 1), 1), 1024)) / log(2)
      )::integer as shares
    from (select case when $1 > 0 then nextval('belfry.turns') else 0 end as number) as taken
    cross join (select count(*) as count from first) as found
  ),
  own as materialized (
    select first.id
    from first
    cross join turn
    where (first.hash + turn.number) & (turn.shares - 1) = 0
    limit $1
  ),
  chosen as materialized (
    select own.id
    from own
    union all
    (
      select first.id
      from first
      where not exists (select 1 from own)
      limit least($1, 1)
    )
  ),
  due as materialized (
    select s.*
    from chosen
    join belfry.schedules as s on s.id = chosen.id
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
  )
  select ${ms("clock.now")},
    -- Whoever is given less than they asked for comes again at once while there is more.
    case
      when (select count(*) from chosen) < least($1, turn.found) then ${ms("clock.now")}
      else ${ms("next.at")}
    end,
    crowd.size,
    turn.number,
    (
      select json_agg(json_build_array(u.id, u.state, u.attempt, u.failures, u.lost))
      from (
        select r.id, r.state, r.attempt, r.failures, r.lost
        from belfry.runs as r
        where r.concurrency_key = 'schedule:' || due.id
          and r.state in ('pending', 'running')
        order by r.created_at
        limit ${UNFINISHED_FACTS_MAX}
      ) as u
    ),
    ${scheduleColumns("due")}
  from clock
  cross join next
  cross join crowd
  cross join turn
  left join due on true
  order by due.next_run_at`,
})
