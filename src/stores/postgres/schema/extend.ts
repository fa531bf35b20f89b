import { CLOCK } from "../rows.ts"
import { engineFunction } from "./engine-function.ts"

/**
 * State and attempt fence it: a worker that lost the run extends nobody's lease. A run that another transaction holds is
 * waited for, for `$5` milliseconds; if that is 0, as it is after a wait in vain, it is passed over.
 */
export const EXTEND = engineFunction({
  name: "extend",
  isPatient: false,
  takes: "text[], integer[], bigint[], text[], patience_ms integer",
  returns: "extended_at timestamptz, run_id text",
  before: "perform set_config('lock_timeout', greatest(patience_ms, 1)::text, true);",
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
