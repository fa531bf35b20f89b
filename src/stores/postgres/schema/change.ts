import { listTypes, rowsOfLists } from "../lists.ts"
import { CLOCK } from "../rows.ts"
import { RUN_CHANGE } from "../run-lists.ts"
import { attemptsOf } from "../run-rows.ts"
import { ADD_ENDS, END_COLUMNS } from "./ends.ts"
import { engineFunction } from "./engine-function.ts"

/** The parameters after the changes. */
const PLACES = `$${RUN_CHANGE.length + 1}`
const IS_IN_TRANSACTION = `$${RUN_CHANGE.length + 2}`

/**
 * Fenced by state and attempt. Returns one row: whether another run waits for a freed key, and the changed ids (null: all).
 *
 * The changes are in the order of their run ids. `places`: the position of each change in the call. Inside a caller's transaction
 * the ends are stored at the commit, so that a long transaction doesn't lock the schedule's ends.
 */
export const CHANGE = engineFunction({
  name: "change",
  waitsForLocks: false,
  takes: `${listTypes(RUN_CHANGE)}, places integer[], is_in_transaction boolean`,
  returns: "is_awaited boolean, changed json",
  declares: "waiting constant text := 'pending';",
  body: `
  with ${CLOCK},
  changed as (
    update belfry.runs as r
    set state = c.state,
      -- A run that is pending again without a delay keeps its place in the queue.
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
      -- Whether another run waits for this run's key. Usually none does, and no hint is needed. By runs_key: the state is a
      -- variable, so that runs_pending can't serve, in which every pending run would be read.
      r.concurrency_limit is not null and exists (
        select 1
        from belfry.runs as other
        where other.concurrency_key = r.concurrency_key
          and other.state = waiting
          and other.state in ('pending', 'running')
      ) as is_awaited
  ),
  -- The finished runs, with their positions in the call. Ends are not stored for a schedule that has been deleted.
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
  ends_by_schedule as materialized (
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
    -- Rows are locked in the order of their ids, so that two calls cannot deadlock.
    order by b.schedule_id
  ),
  stored as (
    insert into belfry.ends as e (${END_COLUMNS})
    select ${END_COLUMNS}
    from ends_by_schedule
    where not ${IS_IN_TRANSACTION}
    ${ADD_ENDS}
  ),
  deferred as (
    insert into belfry.deferred_ends (${END_COLUMNS})
    select ${END_COLUMNS}
    from ends_by_schedule
    where ${IS_IN_TRANSACTION}
  )
  select bool_or(changed.is_awaited),
    case when count(*) < cardinality($1) then to_json(coalesce(array_agg(changed.id), '{}')) end
  from changed`,
})
