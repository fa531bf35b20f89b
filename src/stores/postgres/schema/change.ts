import { listTypes, rowsOfLists } from "../lists.ts"
import { CLOCK } from "../rows.ts"
import { RUN_CHANGE } from "../run-lists.ts"
import { attemptsOf } from "../run-rows.ts"
import { ADD_ENDS, END_COLUMNS } from "./ends.ts"
import { engineFunction } from "./engine-function.ts"

/** The parameters after those of a change. */
const PLACES = `$${RUN_CHANGE.length + 1}`
const IS_WITHIN = `$${RUN_CHANGE.length + 2}`

/**
 * State and attempt fence each: a run that has moved since is not found by its row, also if it moves at this very moment. The
 * answer is one row: whether anybody waits for one of them to end, and which were changed; null is all of them, as nearly
 * always.
 *
 * The changes come in the order of their runs; `places` says which was the first of the call, the second, and so on. Whoever changes
 * runs within a transaction of their own may take an hour to commit it, and must not keep the ends of the schedule to themselves for
 * so long: theirs are kept at the commit.
 */
export const CHANGE = engineFunction({
  name: "change",
  isPatient: false,
  takes: `${listTypes(RUN_CHANGE)}, places integer[], is_within boolean`,
  returns: "is_awaited boolean, changed json",
  body: `
  with ${CLOCK},
  changed as (
    update belfry.runs as r
    set state = c.state,
      -- A run that waits again without a time of its own keeps its place.
      claimable_at = case
        when c.state in ('pending', 'running')
        then coalesce(clock.now + c.claimable_in_ms * interval '1 millisecond', r.due_at, clock.now)
      end,
      completed_at = case when c.state in ('pending', 'running') then null else clock.now end,
      failures = c.failures,
      lost = c.lost,
      message = c.message,
      details = c.details::jsonb,
      error = c.error,
      progress = coalesce(c.progress::jsonb, r.progress),
      reason = coalesce(c.reason, r.reason),
      by_name = coalesce(c.by_name, r.by_name),
      slot = case when c.state = 'running' then r.slot end,
      outcome = c.outcome,
      ended_at = case when c.outcome is not null then clock.now end,
      attempts = ${attemptsOf("r")}
    from clock,
      (${rowsOfLists(RUN_CHANGE, 1)}) as c
    where r.id = c.id
      and r.state = c.if_state
      and r.attempt = c.if_attempt
    returning r.id,
      r.schedule_id,
      r.state,
      c.place,
      -- Another waits for the end of this one. Nobody needs to be told where nobody waits, as nearly always.
      r.concurrency_limit is not null and exists (
        select 1
        from belfry.runs as other
        where other.concurrency_key = r.concurrency_key
          and other.state = 'pending'
          and other.state in ('pending', 'running')
      ) as is_awaited
  ),
  -- Of runs that have ended, in the order in which they were given. Whose schedule is gone has nowhere to be kept.
  ended as materialized (
    select changed.schedule_id, changed.state, (${PLACES})[changed.place] as number
    from changed
    where changed.schedule_id is not null
      and changed.state in ('succeeded', 'failed', 'cancelled')
      and exists (select 1 from belfry.schedules as s where s.id = changed.schedule_id)
  ),
  by_schedule as materialized (
    select ended.schedule_id,
      (array_agg(ended.state order by ended.number desc))[1] as last_state,
      max(ended.number) filter (where ended.state = 'succeeded') as success
    from ended
    group by ended.schedule_id
  ),
  news as materialized (
    select b.schedule_id,
      b.last_state,
      clock.now as last_ended_at,
      case when b.success is not null then clock.now end as last_success_at,
      (
        select count(*)
        from ended
        where ended.schedule_id = b.schedule_id
          and ended.state = 'failed'
          and ended.number > coalesce(b.success, -1)
      ) as failures_in_a_row
    from by_schedule as b, clock
    -- In one order, as everyone takes rows.
    order by b.schedule_id
  ),
  kept as (
    insert into belfry.ends as e (${END_COLUMNS})
    select ${END_COLUMNS}
    from news
    where not ${IS_WITHIN}
    ${ADD_ENDS}
  ),
  kept_later as (
    insert into belfry.ends_within (${END_COLUMNS})
    select ${END_COLUMNS}
    from news
    where ${IS_WITHIN}
  )
  select bool_or(changed.is_awaited),
    case when count(*) < cardinality($1) then to_json(coalesce(array_agg(changed.id), '{}')) end
  from changed`,
})
