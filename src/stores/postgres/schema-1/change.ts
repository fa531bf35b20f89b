import { CLOCK, storyOf } from "../rows.ts"
import { engineFunction } from "./engine-function.ts"

// State and attempt fence each: a run that has moved since is not found by its row, also if it moves at this very moment.
export const CHANGE = engineFunction({
  name: "change",
  isPatient: false,
  takes:
    "text[], text[], integer[], text[], bigint[], integer[], integer[], text[], text[], text[], text[], text[], text[]",
  returns: "run_id text, is_awaited boolean",
  body: `
  with ${CLOCK}
  update belfry.runs as r
  set state = c.state,
    claimable_at = clock.now + c.claimable_in_ms * interval '1 millisecond',
    completed_at = case when c.state in ('pending', 'running') then null else clock.now end,
    failures = c.failures,
    lost = c.lost,
    message = c.message,
    details = c.details::jsonb,
    error = c.error,
    reason = coalesce(c.reason, r.reason),
    by_name = coalesce(c.by_name, r.by_name),
    slot = case when c.state = 'running' then r.slot end,
    outcome = c.outcome,
    ended_at = case when c.outcome is not null then clock.now end,
    attempts = ${storyOf("r")}
  from clock,
    unnest(
      $1::text[], $2::text[], $3::integer[], $4::text[], $5::bigint[], $6::integer[], $7::integer[], $8::text[], $9::text[],
      $10::text[], $11::text[], $12::text[], $13::text[]
    ) as c(
      id, if_state, if_attempt, state, claimable_in_ms, failures, lost, outcome, message, details, error, reason, by_name
    )
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
    )`,
})
