import { listTypes, rowsOfLists } from "../lists.ts"
import { CLOCK } from "../rows.ts"
import { RUN_CHANGE } from "../run-lists.ts"
import { storyOf } from "../run-rows.ts"
import { engineFunction } from "./engine-function.ts"

/**
 * State and attempt fence each: a run that has moved since is not found by its row, also if it moves at this very moment. The
 * answer is one row: whether anybody waits for one of them to end, and which were changed; null is all of them, as nearly
 * always.
 */
export const CHANGE = engineFunction({
  name: "change",
  isPatient: false,
  takes: listTypes(RUN_CHANGE),
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
      attempts = ${storyOf("r")}
    from clock,
      (${rowsOfLists(RUN_CHANGE, 1)}) as c
    where r.id = c.id
      and r.state = c.if_state
      and r.attempt = c.if_attempt
    returning r.id,
      -- Another waits for the end of this one. Nobody needs to be told where nobody waits, as nearly always.
      r.concurrency_limit is not null and exists (
        select 1
        from belfry.runs as other
        where other.concurrency_key = r.concurrency_key
          and other.state = 'pending'
          and other.state in ('pending', 'running')
      ) as is_awaited
  )
  select bool_or(changed.is_awaited),
    case when count(*) < cardinality($1) then to_json(coalesce(array_agg(changed.id), '{}')) end
  from changed`,
})
