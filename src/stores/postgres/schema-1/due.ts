import { UNFINISHED_FACTS_MAX } from "../../../core/plan.ts"
import { CLOCK } from "../rows.ts"
import { engineFunction } from "./engine-function.ts"

/**
 * Due schedules by schedules_due, each with the facts a plan needs, and when the next one is due. Among the first `$2` it
 * takes any `$1`: processes that wake for the same thousand schedules then read different ones. The clock is asked by a
 * subquery: joined, it would be a filter, and the whole index would be walked.
 */
export const DUE = engineFunction({
  name: "due",
  isOfUnknownSize: true,
  takes: "up_to integer, among integer",
  returns: "read_at timestamptz, next_at timestamptz, unfinished json, schedule belfry.schedules",
  body: `
  with ${CLOCK},
  first as materialized (
    select s.id
    from belfry.schedules as s
    where s.next_run_at <= (select clock.now from clock)
    order by s.next_run_at
    limit $2
  ),
  due as materialized (
    select s as schedule, s.id, s.next_run_at
    from (select first.id from first order by case when $1 < $2 then random() end limit $1) as chosen
    join belfry.schedules as s on s.id = chosen.id
  ),
  next as materialized (
    select min(s.next_run_at) as at
    from belfry.schedules as s
    where s.next_run_at > (select clock.now from clock)
  )
  select clock.now,
    next.at,
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
    due.schedule
  from clock
  cross join next
  left join due on true
  order by due.next_run_at`,
})
