import { UNFINISHED_FACTS_MAX } from "../../../core/plan.ts"
import { CLOCK, ms } from "../rows.ts"
import { SCHEDULE_TYPES, scheduleColumns } from "../schedule-rows.ts"
import { engineFunction } from "./engine-function.ts"

/**
 * Due schedules by schedules_due, each with the facts a plan needs, and when the next one is due.
 *
 * first     The longest due, `$2` of them.
 * turn      A number that every look takes.
 * shares    As many as the crew, `$3`, or as whole calls of `$1` are due: by its id, a schedule is in one of them. They are
 *           numbered from this turn's own, so that those who look at the same moment have different ones.
 * chosen    This turn's share, `$1` at most; if there is nothing in it, of the shares that come next.
 *
 * So processes that wake for the same thousand schedules read different ones, however many they are. The clock is asked by a
 * subquery: joined, it would be a filter, and the whole index would be walked.
 */
export const DUE = engineFunction({
  name: "due",
  isOfUnknownSize: true,
  takes: "up_to integer, among integer, crew integer",
  returns: `read_at float8, next_at float8, turn bigint, unfinished json, ${SCHEDULE_TYPES}`,
  body: `
  with ${CLOCK},
  first as materialized (
    select s.id
    from belfry.schedules as s
    where s.next_run_at <= (select clock.now from clock)
    order by s.next_run_at
    limit $2
  ),
  turn as materialized (
    select nextval('belfry.turns') as number,
      greatest($3, count(*) / $1) as shares,
      count(*) as found
    from first
  ),
  shares as materialized (
    select first.id, mod((hashtext(first.id) & 2147483647) + turn.number, turn.shares) as share
    from first
    cross join turn
  ),
  share as materialized (
    select least($1, coalesce(
      nullif(count(*) filter (where shares.share = 0), 0),
      ceil(count(*) / max(turn.shares)::float8)
    )) as size
    from shares
    cross join turn
  ),
  chosen as (
    select shares.id
    from shares
    order by shares.share
    limit (select share.size from share)
  ),
  due as materialized (
    select s.*
    from chosen
    join belfry.schedules as s on s.id = chosen.id
  ),
  next as materialized (
    select min(s.next_run_at) as at
    from belfry.schedules as s
    where s.next_run_at > (select clock.now from clock)
  )
  select ${ms("clock.now")},
    -- Whoever is given less than they asked for comes again at once while there is more.
    case when share.size < least($1, turn.found) then ${ms("clock.now")} else ${ms("next.at")} end,
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
  cross join turn
  cross join share
  left join due on true
  order by due.next_run_at`,
})
