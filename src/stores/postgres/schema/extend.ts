import { CLOCK } from "../rows.ts"
import { engineFunction } from "./engine-function.ts"

/**
 * Fenced by state and attempt: a worker that lost the run can't extend the lease of another worker. Waits up to `$5` ms for runs
 * that another transaction has locked. 0: skips the locked runs; sent after a wait has failed.
 */
export const EXTEND = engineFunction({
  name: "extend",
  waitsForLocks: false,
  takes: "text[], integer[], bigint[], text[], lock_wait_ms integer",
  returns: "extended_at timestamptz, run_id text",
  before: "perform set_config('lock_timeout', greatest(lock_wait_ms, 1)::text, true);",
  body: `
  with ${CLOCK},
  free as (
    select r.id
    from belfry.runs as r
    where $5 = 0
      and r.id = any ($1)
    order by r.id
    for no key update skip locked
  ),
  extended as (
    update belfry.runs as r
    set claimable_at = clock.now + h.lease_ms * interval '1 millisecond',
      progress = coalesce(h.progress::jsonb, r.progress),
      confirmed_attempt = r.attempt
    from clock, unnest($1, $2, $3, $4) as h(id, attempt, lease_ms, progress)
    where r.id = h.id
      and r.state = 'running'
      and r.attempt = h.attempt
      and ($5 > 0 or r.id in (select free.id from free))
    returning r.id
  )
  select clock.now, extended.id
  from clock
  left join extended on true`,
})
