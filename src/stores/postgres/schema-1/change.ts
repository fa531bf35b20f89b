import { CLOCK } from "../rows.ts"
import { engineFunction } from "./engine-function.ts"

// State and attempt fence each: a run that has moved since is not found by its row, also if it moves at this very moment.
export const CHANGE = engineFunction({
  name: "change",
  isPatient: false,
  takes:
    "text[], text[], integer[], text[], bigint[], integer[], integer[], text[], text[], text[], text[], text[], text[]",
  returns: "run_id text, run_limit integer",
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
    worker_id = case when c.outcome is null then r.worker_id end,
    slot = case when c.state = 'running' then r.slot end,
    attempts = case
      when c.outcome is null then r.attempts
      else belfry.with_attempt(r.attempts, r.attempt, r.worker_id, r.started_at, clock.now, c.outcome, c.error)
    end
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
  returning r.id, r.concurrency_limit`,
})
